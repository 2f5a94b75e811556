// Packing, opening and unpacking .cbm files.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"
#include "loader/half.hpp"
#include "loader/model.hpp"
#include "loader/packing.hpp"
#include "loader/quantiser.hpp"
#include "tests/loader/cbm_editor.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/folder_fixture.hpp"
#include "tests/loader/temporary_folder.hpp"
#include "tests/loader/tensor_files.hpp"

namespace crossbill::loader {
namespace {

namespace fs = std::filesystem;

using Tensors = std::map<std::string, std::vector<float>>;

Tensors tensors_of(const Model& model) {
  Tensors tensors;
  for_each_tensor(model,
                  [&](const std::string& name, const std::vector<float>& values) { tensors[name] = values; });
  return tensors;
}

/// Word embeddings and the layers' matrices: what packing may round.
bool is_rounded(const std::string& name) {
  return name.ends_with(".weight") && name.find("LayerNorm") == std::string::npos &&
         (name.find("word_embeddings") != std::string::npos ||
          name.find("encoder.layer") != std::string::npos);
}

class Cbm : public Folder {
 protected:
  fs::path pack(const Model& model, PackedWeights weights, const std::string& name = "packed.cbm") {
    report = pack_model(model, out / name, weights);
    return out / name;
  }

  TemporaryFolder out;
  PackReport report;
};

std::vector<const Linear*> products(const LayerWeights& layer) {
  return {&layer.query,        &layer.key,   &layer.value, &layer.attention_output,
          &layer.intermediate, &layer.output};
}

TEST_F(Cbm, F16FromF16IsExact) {
  for (auto& [name, tensor] : tensors) {
    if (tensor.dtype == "F32") {
      std::string halves;
      for (const float value : floats_of(tensor)) {
        const std::uint16_t half = f32_to_f16(value);
        halves.append(reinterpret_cast<const char*>(&half), 2);
      }
      tensor = {"F16", tensor.shape, halves};
    }
  }
  const auto source = open();
  const auto packed = open_model(pack(*source, PackedWeights::f16));
  EXPECT_EQ(report.inexact_f16, 0u);
  EXPECT_EQ(report.weight_snr_db, std::numeric_limits<double>::infinity());
  EXPECT_EQ(packed->weight_dtype, DType::f16);
  EXPECT_EQ(packed->position_embeddings.dtype, DType::f16);
  EXPECT_EQ(tensors_of(*packed), tensors_of(*source));
}

TEST_F(Cbm, F16FromF32RoundsMatricesAndCountsIt) {
  const auto source = open_model(kOneLabel);
  const auto packed = open_model(pack(*source, PackedWeights::f16));
  EXPECT_EQ(packed->position_embeddings.dtype, DType::f32);  // f16 wouldn't be exact
  const auto before = tensors_of(*source);
  std::size_t inexact = 0;
  for (const auto& [name, values] : tensors_of(*packed)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = before.at(name)[i];
      ASSERT_EQ(values[i], is_rounded(name) ? f16_to_f32(f32_to_f16(value)) : value) << name << ' ' << i;
      inexact += values[i] != value;
    }
  }
  EXPECT_EQ(report.inexact_f16, inexact);
  EXPECT_GT(inexact, 1000u);
}

TEST_F(Cbm, Int8IsWithinHalfAStepAndTheRestIsExact) {
  const auto source = open_model(kOneLabel);
  const auto packed = open_model(pack(*source, PackedWeights::int8));
  EXPECT_EQ(packed->format, "cbm version 0");
  EXPECT_EQ(packed->weight_dtype, DType::s8);
  EXPECT_EQ(report.bytes, fs::file_size(out / "packed.cbm"));
  const auto before = tensors_of(*source);
  for (const auto& [name, values] : tensors_of(*packed)) {
    if (!is_rounded(name)) {
      EXPECT_EQ(values, before.at(name)) << name;
    }
  }
  const auto expect_close = [](const WeightMatrix& is, const WeightMatrix& was) {
    const auto a = all_rows(is);
    const auto b = all_rows(was);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_LE(std::abs(a[i] - b[i]), is.scales[i / is.cols] * 0.50001f);
    }
  };
  expect_close(packed->word_embeddings, source->word_embeddings);
  for (std::size_t i = 0; i < source->layers.size(); ++i) {
    for (std::size_t p = 0; p < 6; ++p) {
      expect_close(products(packed->layers[i])[p]->weight, products(source->layers[i])[p]->weight);
    }
  }
}

TEST_F(Cbm, Int8PanelsKeepThePairBoundAndTheirSums) {
  const auto packed = open_model(pack(*open_model(kOneLabel), PackedWeights::int8));
  for (const auto& layer : packed->layers) {
    for (const Linear* linear : products(layer)) {
      const WeightMatrix& w = linear->weight;
      ASSERT_EQ(w.layout, WeightMatrix::Layout::panels);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.data) % 64, 0u);
      std::vector<std::int8_t> q(w.cols);
      for (std::size_t row = 0; row < w.rows; ++row) {
        kernels::get_s8_panel_row(reinterpret_cast<const std::int8_t*>(w.data), w.rows, w.cols, row,
                                  q.data());
        EXPECT_TRUE(within_pair_bound(q));
        std::int32_t sum = 0;
        for (const std::int8_t value : q) {
          sum += value;
        }
        EXPECT_EQ(w.column_sums[row], sum);
      }
      for (std::size_t row = w.rows; row < kernels::padded(w.rows); ++row) {
        EXPECT_EQ(w.column_sums[row], 0);
      }
    }
  }
}

TEST_F(Cbm, ReportedSnrIsThatOfTheProducts) {
  const auto source = open_model(kOneLabel);
  const auto packed = open_model(pack(*source, PackedWeights::int8));
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < source->layers.size(); ++i) {
    for (std::size_t p = 0; p < 6; ++p) {
      const auto was = all_rows(products(source->layers[i])[p]->weight);
      const auto is = all_rows(products(packed->layers[i])[p]->weight);
      for (std::size_t k = 0; k < was.size(); ++k) {
        signal += double{was[k]} * was[k];
        noise += (double{was[k]} - is[k]) * (double{was[k]} - is[k]);
      }
    }
  }
  EXPECT_NEAR(report.weight_snr_db, 10 * std::log10(signal / noise), 1e-6);
  EXPECT_GT(report.weight_snr_db, 38);
}

TEST_F(Cbm, QueryKeyAndValueLieSideBySide) {
  CbmEditor file(read_file(pack(*open_model(kOneLabel), PackedWeights::int8)));
  for (const char* part : {".weight", ".weight.scales", ".weight.column_sums", ".bias"}) {
    std::uint64_t end = file.section("layer.1.query" + std::string(part)).offset;
    for (const char* name : {"layer.1.query", "layer.1.key", "layer.1.value"}) {
      const auto& section = file.section(name + std::string(part));
      EXPECT_EQ(section.offset, end) << name << part;
      end = cbm::aligned(section.offset + section.bytes);
    }
  }
}

TEST_F(Cbm, UnpackedFolderHasTheSameWeightsAndTokenizer) {
  for (const auto& folder_path : {kOneLabel, kThreeLabels}) {
    for (const auto weights : {PackedWeights::int8, PackedWeights::f16}) {
      const auto packed = open_model(pack(*open_model(folder_path), weights));
      TemporaryFolder unpacked;
      unpack_model(*packed, unpacked.path());
      const auto back = open_model(unpacked.path());
      EXPECT_EQ(tensors_of(*back), tensors_of(*packed));
      EXPECT_TRUE(back->unused_tensors.empty());
      EXPECT_EQ(back->config.labels, packed->config.labels);
      EXPECT_EQ(back->config.hidden_act, packed->config.hidden_act);
      EXPECT_EQ(back->config.score_activation, packed->config.score_activation);
      EXPECT_TRUE(std::ranges::equal(back->vocabulary.block(), packed->vocabulary.block()));
      EXPECT_EQ(back->tokenizer_settings.lowercase, packed->tokenizer_settings.lowercase);
      EXPECT_EQ(back->tokenizer_settings.strip_accents, packed->tokenizer_settings.strip_accents);
      EXPECT_EQ(back->tokenizer_settings.model_max_length, packed->tokenizer_settings.model_max_length);
      EXPECT_EQ(back->tokenizer_settings.added_tokens.size(), packed->tokenizer_settings.added_tokens.size());
      EXPECT_EQ(back->tokenizer_settings.cls_id, packed->tokenizer_settings.cls_id);
      // vocab.txt and tokenizer_config.json alone give the same vocabulary.
      fs::remove(unpacked / "tokenizer.json");
      EXPECT_TRUE(
          std::ranges::equal(open_model(unpacked.path())->vocabulary.block(), packed->vocabulary.block()));
    }
  }
}

TEST_F(Cbm, SettingsAndLabelsSurvivePacking) {
  const auto source = open_model(kThreeLabels);
  const auto packed = open_model(pack(*source, PackedWeights::int8));
  EXPECT_EQ(packed->config.labels, source->config.labels);
  EXPECT_EQ(packed->config.score_activation, ScoreActivation::sigmoid);
  EXPECT_EQ(packed->config.hidden_act, HiddenActivation::gelu_tanh);
  EXPECT_EQ(packed->config.layer_norm_eps, source->config.layer_norm_eps);
  EXPECT_FALSE(packed->tokenizer_settings.lowercase);
  EXPECT_FALSE(packed->tokenizer_settings.model_max_length);
  EXPECT_TRUE(std::ranges::equal(packed->vocabulary.block(), source->vocabulary.block()));
}

TEST_F(Cbm, PackingTwiceGivesTheSameBytes) {
  const auto source = open_model(kOneLabel);
  for (const auto weights : {PackedWeights::int8, PackedWeights::f16}) {
    EXPECT_EQ(read_file(pack(*source, weights, "a")),
              read_file(pack(*open_model(kOneLabel, LoadMode::copy), weights, "b")));
  }
}

TEST_F(Cbm, PackingAPackedModelAgainLosesNothing) {
  const auto once = open_model(pack(*open(), PackedWeights::int8, "once.cbm"));
  const auto twice = open_model(pack(*once, PackedWeights::int8, "twice.cbm"));
  EXPECT_EQ(tensors_of(*twice), tensors_of(*once));
  EXPECT_TRUE(std::isinf(report.weight_snr_db));
}

TEST_F(Cbm, SourceIsNamedByItsSha256AndKeptWhenRepacked) {
  const char* digest =
      "6088cc190e15c396d4e9ab11a5dc911b544ac6c2db5f1d5f56084245e48f29a9";  // as sha256sum prints it
  const auto packed = open_model(pack(*open_model(kOneLabel), PackedWeights::f16));
  EXPECT_EQ(packed->source_sha256, digest);
  EXPECT_EQ(open_model(pack(*packed, PackedWeights::int8, "again.cbm"))->source_sha256, digest);
}

TEST_F(Cbm, OpensMappedCopiedAndFromMemory) {
  const auto path = pack(*open_model(kOneLabel), PackedWeights::int8);
  const auto expected = tensors_of(*open_model(path, LoadMode::map));
  EXPECT_EQ(tensors_of(*open_model(path, LoadMode::copy)), expected);
  const std::string bytes = read_file(path);
  alignas(64) static std::byte memory[200'000];
  ASSERT_LT(bytes.size() + 64, sizeof memory);
  for (const std::size_t offset : {0, 1, 32}) {
    std::memcpy(memory + offset, bytes.data(), bytes.size());
    const auto model = open_model(std::span<const std::byte>(memory + offset, bytes.size()), nullptr);
    EXPECT_EQ(tensors_of(*model), expected);
    EXPECT_EQ(model->name, "memory");
    const auto* data = model->pooler.weight.data;
    EXPECT_EQ(data >= memory && data < memory + sizeof memory, offset == 0);  // else it was copied
  }
}

TEST_F(Cbm, PackingReplacesAFileThatIsOpen) {
  const auto path = pack(*open_model(kOneLabel), PackedWeights::int8);
  const auto open_one = open_model(path);
  const auto before = tensors_of(*open_one);
  pack(*open_model(kThreeLabels), PackedWeights::f16);
  EXPECT_EQ(tensors_of(*open_one), before);
  EXPECT_EQ(open_model(path)->config.num_labels, 3u);
}

TEST_F(Cbm, FailedPackingLeavesTheOldFileAlone) {
  write_file(out / "packed.cbm", "old");
  const float nan = std::nanf("");
  std::memcpy(tensors.at("bert.encoder.layer.1.output.dense.weight").bytes.data() + (72 * 5 + 3) * 4, &nan,
              sizeof nan);
  const auto source = open();
  for (const auto weights : {PackedWeights::int8, PackedWeights::f16}) {
    expect_error([&] { pack(*source, weights); }, ErrorCode::bad_model,
                 {"layer.1.output.weight", "row 5", "not finite", "3"});
  }
  EXPECT_EQ(read_file(out / "packed.cbm"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(out.path()), {}), 1);
  expect_error(
      [&] { pack_model(*open_model(kOneLabel), out.path() / "no" / "such.cbm", PackedWeights::int8); },
      ErrorCode::file_error, {"such.cbm"});
}

TEST_F(Cbm, ValuesBeyondF16AreNamed) {
  const float large = 70000;
  std::memcpy(tensors.at("bert.embeddings.word_embeddings.weight").bytes.data() + 40 * 4 * 7, &large,
              sizeof large);
  expect_error([&] { pack(*open(), PackedWeights::f16); }, ErrorCode::bad_model,
               {"embeddings.word", "row 7", "70000", "65504"});
}

TEST_F(Cbm, UnpackingNeedsAnEmptyFolder) {
  const auto model = open_model(kOneLabel);
  write_file(out / "something", "");
  expect_error([&] { unpack_model(*model, out.path()); }, ErrorCode::file_error, {"not empty"});
  expect_error([&] { unpack_model(*model, out / "something"); }, ErrorCode::file_error, {"something"});
}

// A rename over a device or a pipe would destroy it.
TEST_F(Cbm, OnlyARegularFileIsReplaced) {
  const auto model = open_model(kOneLabel);
  const fs::path pipe = out / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error([&] { pack_model(*model, pipe, PackedWeights::int8); }, ErrorCode::file_error,
               {"pipe", "no regular file"});
  EXPECT_TRUE(fs::is_fifo(pipe));
  expect_error([&] { pack_model(*model, out.path(), PackedWeights::int8); }, ErrorCode::file_error,
               {"no regular file"});
}

TEST_F(Cbm, ASymbolicLinkStaysAndItsFileIsReplaced) {
  const auto model = open_model(kOneLabel);
  pack(*model, PackedWeights::int8, "real.cbm");
  fs::create_symlink("real.cbm", out / "link.cbm");
  const auto before = fs::file_size(out / "real.cbm");
  pack(*model, PackedWeights::f16, "link.cbm");
  EXPECT_TRUE(fs::is_symlink(out / "link.cbm"));
  EXPECT_NE(fs::file_size(out / "real.cbm"), before);
}

TEST_F(Cbm, StoppedWorkLeavesNothingBehind) {
  const auto model = open_model(kOneLabel);
  std::stop_source stop;
  stop.request_stop();
  expect_error([&] { pack_model(*model, out / "stopped.cbm", PackedWeights::int8, stop.get_token()); },
               ErrorCode::cancelled, {"cancelled"});
  expect_error([&] { unpack_model(*model, out / "new", stop.get_token()); }, ErrorCode::cancelled,
               {"cancelled"});
  fs::create_directory(out / "empty");
  expect_error([&] { unpack_model(*model, out / "empty", stop.get_token()); }, ErrorCode::cancelled,
               {"cancelled"});
  EXPECT_FALSE(fs::exists(out / "stopped.cbm"));
  EXPECT_FALSE(fs::exists(out / "new"));
  EXPECT_TRUE(fs::is_empty(out / "empty"));
  EXPECT_EQ(std::distance(fs::directory_iterator(out.path()), fs::directory_iterator()), 1);
  unpack_model(*model, out / "empty");  // and a second try succeeds
  EXPECT_TRUE(fs::exists(out / "empty" / "model.safetensors"));
}

TEST(BundledModel, OpensAndKnowsItsSource) {
  const auto model = open_model(fs::path(CROSSBILL_MODELS) / "crossbill-minilm-l3.cbm");
  EXPECT_EQ(model->config.num_hidden_layers, 3u);
  EXPECT_EQ(model->config.hidden_size, 384u);
  EXPECT_EQ(model->vocabulary.size(), 30522u);
  EXPECT_EQ(model->weight_dtype, DType::s8);
  EXPECT_EQ(model->tokenizer_settings.cls_id, 101);
  EXPECT_EQ(model->source_sha256, "3fa95568b9a4f8a0bca7e1fdd1e8bfdb15083be84bfae37d03db6bde156786fd");
}

// The file in models/ is what packing gives: on any compiler, any machine.
TEST(BundledModel, IsWhatPackingItsSourceGives) {
  const char* data = std::getenv("CROSSBILL_DATA");
  if (data == nullptr) {
    GTEST_SKIP() << "CROSSBILL_DATA is not set: it names the folder that has models/crossbill-minilm-l3";
  }
  TemporaryFolder out;
  pack_model(*open_model(fs::path(data) / "models" / "crossbill-minilm-l3"), out / "m.cbm",
             PackedWeights::int8);
  EXPECT_TRUE(read_file(out / "m.cbm") == read_file(fs::path(CROSSBILL_MODELS) / "crossbill-minilm-l3.cbm"));
}

}  // namespace
}  // namespace crossbill::loader
