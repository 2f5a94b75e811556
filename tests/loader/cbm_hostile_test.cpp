// .cbm files that are damaged, or made to do harm.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/model.hpp"
#include "loader/packing.hpp"
#include "tests/loader/cbm_editor.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/temporary_folder.hpp"

namespace crossbill::loader {
namespace {

namespace fs = std::filesystem;

std::string packed(PackedWeights weights) {
  TemporaryFolder out;
  const auto model = open_model(fs::path(CROSSBILL_TEST_DATA) / "tiny" / "one-label");
  pack_model(*model, out / "m.cbm", weights);
  return read_file(out / "m.cbm");
}

std::shared_ptr<const Model> open_bytes(const std::string& bytes) {
  return open_model(std::as_bytes(std::span(bytes)), nullptr);
}

class HostileCbm : public ::testing::Test {
 protected:
  /// What `change` does to a sound file is an error, even though all checksums are right.
  void refuse(const std::function<void(CbmEditor&)>& change, std::initializer_list<std::string> words,
              ErrorCode code = ErrorCode::bad_model) {
    CbmEditor editor(int8);
    change(editor);
    const std::string bytes = editor.with_right_checksums();
    expect_error([&] { open_bytes(bytes); }, code, words);
  }

  void refuse_metadata(const std::string& from, const std::string& to,
                       std::initializer_list<std::string> words, ErrorCode code = ErrorCode::bad_model) {
    refuse(
        [&](CbmEditor& file) {
          const auto text = file.data<char>("metadata");
          std::string json(text.begin(), text.end());
          ASSERT_NE(json.find(from), std::string::npos) << from;
          file.replace("metadata", json.replace(json.find(from), from.size(), to));
        },
        words, code);
  }

  const std::string int8 = packed(PackedWeights::int8);
};

TEST_F(HostileCbm, EditorItselfLeavesFilesSound) {
  CbmEditor editor(int8);
  EXPECT_EQ(editor.with_right_checksums(), int8);
  open_bytes(int8);
}

TEST_F(HostileCbm, TruncatedAnywhereIsAnError) {
  std::mt19937 random(1);
  for (std::size_t i = 0; i < 600; ++i) {
    const std::size_t length = i < 200 ? i : i < 300 ? int8.size() - (i - 199) : random() % int8.size();
    expect_error([&] { open_bytes(int8.substr(0, length)); }, ErrorCode::bad_model, {"memory"});
  }
}

TEST_F(HostileCbm, AddedBytesAreAnError) {
  expect_error([&] { open_bytes(int8 + std::string(64, '\0')); }, ErrorCode::bad_model, {"memory", "bytes"});
  refuse(
      [](CbmEditor& file) {
        file.bytes() += std::string(64, '\0');
        file.header().file_bytes += 64;
      },
      {"64 bytes", "no section"});
}

TEST_F(HostileCbm, EveryFlippedBitIsSeen) {
  std::mt19937 random(2);
  const std::size_t table_end = sizeof(cbm::Header) + CbmEditor(int8).table().size_bytes();
  std::string bytes = int8;
  for (std::size_t i = 0; i < table_end + 3000; ++i) {
    const std::size_t at = i < table_end ? i : table_end + random() % (bytes.size() - table_end);
    const char bit = static_cast<char>(1 << random() % 8);
    bytes[at] ^= bit;
    EXPECT_THROW(open_bytes(bytes), Error) << at;
    bytes[at] ^= bit;
  }
}

TEST_F(HostileCbm, OtherVersionsAreRefused) {
  refuse([](CbmEditor& file) { file.header().version = 1; }, {"version 1", "version 0"},
         ErrorCode::unsupported_model);
}

TEST_F(HostileCbm, OtherFilesAreNotCbm) {
  for (const std::string& bytes : {std::string(64, 'x'), std::string("PK\3\4"), int8.substr(1)}) {
    expect_error([&] { open_bytes(bytes); }, ErrorCode::bad_model, {"not a .cbm file"});
  }
}

TEST_F(HostileCbm, FilesThatAreNotFilesAreErrors) {
  TemporaryFolder folder;
  write_file(folder / "empty.cbm", "");
  expect_error([&] { open_model(folder / "empty.cbm"); }, ErrorCode::file_error, {"empty.cbm", "empty"});
  ASSERT_EQ(::mkfifo((folder / "fifo.cbm").c_str(), 0600), 0);
  expect_error([&] { open_model(folder / "fifo.cbm"); }, ErrorCode::file_error, {"fifo.cbm", "regular"});
  expect_error([&] { open_model("/dev/zero"); }, ErrorCode::file_error, {"/dev/zero", "regular"});
  fs::create_directory(folder / "folder.cbm");
  expect_error([&] { open_model(folder / "folder.cbm"); }, ErrorCode::file_error,
               {"folder.cbm", "model.safetensors"});
  expect_error([&] { open_model(folder / "none.cbm"); }, ErrorCode::file_error, {"none.cbm"});
}

// Promise of exactness: what a foreign file says of its weights is checked, not believed.
TEST_F(HostileCbm, WrongColumnSumIsNamed) {
  refuse([](CbmEditor& file) { file.data<std::int32_t>("layer.1.key.weight.column_sums")[17] += 1; },
         {"layer.1.key.weight", "column_sums[17]"});
  refuse([](CbmEditor& file) { file.data<std::int32_t>("layer.0.query.weight.column_sums")[47] = 1; },
         {"layer.0.query.weight", "column_sums[47]"});
}

/// Sets q[row][k] and q[row][k + 1] (k even) and keeps the column sum right. Panel layout:
/// [16][cols/4][16][4].
void set_pair(CbmEditor& file, const std::string& name, std::size_t row, std::size_t k, int a, int b) {
  const std::size_t panel = row / 16 * 64 * 16;  // cols 40 padded to 64
  auto q = file.data<std::int8_t>(name).subspan(panel + (k / 4 * 16 + row % 16) * 4 + k % 4, 2);
  file.data<std::int32_t>(name + ".column_sums")[row] += a + b - q[0] - q[1];
  q[0] = static_cast<std::int8_t>(a);
  q[1] = static_cast<std::int8_t>(b);
}

TEST_F(HostileCbm, BrokenPairBoundIsSeenInEveryPlace) {
  const std::string name = "layer.0.attention_output.weight";
  for (const auto& pair : {std::pair(65, 64), std::pair(-65, -64), std::pair(127, 2), std::pair(-2, -127)}) {
    for (const std::size_t row : {0, 7, 15, 16, 39}) {
      for (const std::size_t k : {0, 2, 20, 38}) {
        refuse([&](CbmEditor& file) { set_pair(file, name, row, k, pair.first, pair.second); },
               {name, "pair bound"});
      }
    }
  }
  refuse([&](CbmEditor& file) { set_pair(file, name, 3, 4, -128, 0); }, {name, "-128"});
  refuse([&](CbmEditor& file) { set_pair(file, name, 3, 4, 0, -128); }, {name, "-128"});
}

TEST_F(HostileCbm, PairsAtTheBoundAreFine) {
  CbmEditor file(int8);
  set_pair(file, "layer.0.attention_output.weight", 3, 4, 64, 64);
  set_pair(file, "layer.0.attention_output.weight", 4, 4, -1, -127);
  set_pair(file, "layer.0.attention_output.weight", 5, 4, 127, -127);
  open_bytes(file.with_right_checksums());
}

TEST_F(HostileCbm, PaddingMustBeZero) {
  const std::string name = "layer.0.attention_output.weight";
  refuse([&](CbmEditor& file) { set_pair(file, name, 3, 40, 1, -1); }, {name, "padding"});  // inputs past 40
  refuse([&](CbmEditor& file) { set_pair(file, name, 41, 4, 1, -1); },
         {name, "padding"});  // channels past 40
}

TEST_F(HostileCbm, FloatsMustBeFiniteAndScalesNotNegative) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refuse([&](CbmEditor& file) { file.data<float>("layer.0.output.bias")[3] = nan; },
         {"layer.0.output.bias", "not finite", "3"});
  refuse([&](CbmEditor& file) { file.data<float>("embeddings.norm.gamma")[39] = nan; },
         {"embeddings.norm.gamma", "39"});
  refuse([&](CbmEditor& file) { file.data<float>("embeddings.word.scales")[2] = -1; },
         {"embeddings.word.scales", "negative", "2"});
  refuse([&](CbmEditor& file) { file.data<float>("layer.1.value.weight.scales")[0] = 1 / 0.0f; },
         {"layer.1.value.weight.scales"});
}

TEST_F(HostileCbm, TableEntriesAreChecked) {
  const auto change = [this](const std::function<void(cbm::Section&)>& edit,
                             std::initializer_list<std::string> words) {
    refuse([&](CbmEditor& file) { edit(file.section("layer.1.key.bias")); }, words);
  };
  const std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  const std::string name = "layer.1.key.bias";
  change([](cbm::Section& s) { s.offset += 64; }, {name, "starts"});
  change([](cbm::Section& s) { s.offset -= 64; }, {name, "starts"});  // overlaps its predecessor
  change([](cbm::Section& s) { s.offset += 4; }, {name, "starts"});
  change([&](cbm::Section& s) { s.offset = large - 63; }, {name, "starts"});
  change([&](cbm::Section& s) { s.bytes = large; }, {name, "bytes"});
  change([](cbm::Section& s) { s.bytes += 4; }, {name, "bytes"});
  change([](cbm::Section& s) { s.shape[0] -= 1; }, {name, "bytes"});
  change([](cbm::Section& s) { s.shape[0] -= 1, s.bytes -= 4; }, {name, "zeros"});
  change([](cbm::Section& s) { s.shape = {large / 4 + 1, 1}; }, {name, "bytes"});
  change(
      [](cbm::Section& s) {
        s.rank = 2, s.shape = {std::uint64_t{1} << 32, std::uint64_t{1} << 32};
      },
      {name});
  change(
      [](cbm::Section& s) {
        s.rank = 2, s.shape = {1u << 30, 1u << 30}, s.bytes = std::uint64_t{1} << 62;
      },
      {name, "beyond"});
  change(
      [](cbm::Section& s) {
        s.rank = 2, s.shape = {std::uint64_t{1} << 63, 16}, s.type = cbm::SectionType::s8_panels;
      },
      {name});
  change([](cbm::Section& s) { s.rank = 2; }, {name, "[40, 1]", "[40]"});
  change([](cbm::Section& s) { s.rank = 3; }, {name, "rank"});
  change([](cbm::Section& s) { s.rank = 0; }, {name, "rank"});
  change([](cbm::Section& s) { s.shape[1] = 2; }, {name, "rank"});
  change([](cbm::Section& s) { s.type = static_cast<cbm::SectionType>(6); }, {name, "type"});
  change([](cbm::Section& s) { s.type = cbm::SectionType::s32; }, {name, "s32", "f32"});
  change([](cbm::Section& s) { s.reserved[15] = 1; }, {name, "reserved"});
  change([](cbm::Section& s) { s.name.fill('x'); }, {"name"});
  change([](cbm::Section& s) { s.name[40] = 'x'; }, {"name"});
  change([](cbm::Section& s) { s.name = {}; }, {"name"});
  change([](cbm::Section& s) { s.name[0] = '\x1b'; }, {"name", "\\x1b"});
  change([](cbm::Section& s) { s.name[0] = 'L'; }, {name, "missing"});
  change([](cbm::Section& s) { std::strcpy(s.name.data(), "layer.1.value.bias"); },
         {"layer.1.value.bias", "twice"});
}

TEST_F(HostileCbm, HeaderFieldsAreChecked) {
  refuse([](CbmEditor& file) { file.header().file_bytes -= 1; }, {"states"});
  refuse([](CbmEditor& file) { file.header().reserved[0] = 1; }, {"reserved"});
  refuse([](CbmEditor& file) { file.header().section_count -= 1; }, {"memory"});
  std::string bytes = int8;  // the editor itself couldn't walk such a table
  for (const std::uint32_t count : {0xffffffffu, 65'537u, 1'000'000u}) {
    reinterpret_cast<cbm::Header*>(bytes.data())->section_count = count;
    expect_error([&] { open_bytes(bytes); }, ErrorCode::bad_model, {"sections"});
  }
}

TEST_F(HostileCbm, MetadataIsChecked) {
  refuse([](CbmEditor& file) { file.replace("metadata", ""); }, {"metadata", "JSON"});
  refuse([](CbmEditor& file) { file.replace("metadata", std::string(900'000, '[')); }, {"metadata", "deep"});
  refuse([](CbmEditor& file) { file.replace("metadata", std::string(2'000'000, ' ')); },
         {"metadata", "1 MiB"});
  refuse_metadata("\"int8\"", "\"int4\"", {"metadata", "weights", "int4"});
  refuse_metadata("\"int8\"", "\"f16\"", {"embeddings.word", "s8", "f16"});
  refuse_metadata("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", {"layer.2.", "missing"});
  refuse_metadata("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1e9", {"num_hidden_layers"});
  refuse_metadata("\"hidden_size\": 40", "\"hidden_size\": 44", {"embeddings.word", "[", "44]"});
  refuse_metadata("\"hidden_size\": 40", "\"hidden_size\": 40, \"hidden_size\": 40",
                  {"hidden_size", "twice"});
  refuse_metadata("\"hidden_act\": \"gelu\"", "\"hidden_act\": \"mish\"", {"mish"},
                  ErrorCode::unsupported_model);
  refuse_metadata("\"cls_id\": 3", "\"cls_id\": 30000", {"[CLS]", "30000"});
  refuse_metadata("\"cls_id\": 3", "\"cls_id\": -1", {"cls_id"});
  refuse_metadata("\"second_type_id\": 1", "\"second_type_id\": 2", {"token types"});
  refuse_metadata("\"WordPiece\"", "\"BPE\"", {"tokenizer", "BPE", "WordPiece"});
  refuse_metadata("\"source_sha256\": \"", "\"source_sha256\": \"x", {"source_sha256"});
}

TEST_F(HostileCbm, VocabularyIsChecked) {
  refuse([](CbmEditor& file) { file.replace("vocabulary", ""); }, {"vocabulary"});
  refuse([](CbmEditor& file) { file.replace("vocabulary", std::string(1000, '\xff')); }, {"vocabulary"});
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {  // a sound answer or an Error, nothing else
    CbmEditor file(int8);
    file.data<std::uint8_t>("vocabulary")[random() % file.section("vocabulary").bytes] ^=
        static_cast<std::uint8_t>(1 + random() % 255);
    try {
      const auto model = open_bytes(file.with_right_checksums());
      for (std::size_t id = 0; id < model->vocabulary.size(); ++id) {
        model->vocabulary.find(model->vocabulary.token(static_cast<std::int32_t>(id)));
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_model);
    }
  }
}

TEST_F(HostileCbm, UnknownSectionsAreReported) {
  CbmEditor file(int8);
  // The last section gets a name that nobody asks for, and a copy of it at the end keeps the old one.
  const cbm::Section last = file.table().back();
  ASSERT_STREQ(last.name.data(), "classifier.bias");
  const std::string data = file.bytes().substr(last.offset);
  const std::size_t table_end = sizeof(cbm::Header) + file.table().size_bytes();
  file.bytes().insert(table_end, std::string(sizeof(cbm::Section), '\0'));
  file.header().section_count += 1;
  for (auto& section : file.table()) {
    section.offset += sizeof(cbm::Section);
  }
  file.table().back() = last;
  file.table().back().offset = file.bytes().size();
  file.table()[file.table().size() - 2].name = {"extra"};
  file.bytes() += data;
  file.header().file_bytes = file.bytes().size();
  EXPECT_EQ(open_bytes(file.with_right_checksums())->unused_tensors, std::vector<std::string>{"extra"});
}

}  // namespace
}  // namespace crossbill::loader
