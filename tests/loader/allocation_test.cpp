// A hostile file wastes no more memory than a small multiple of its own size.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <string>

#include "crossbill/error.hpp"
#include "loader/config.hpp"
#include "loader/model.hpp"
#include "loader/packing.hpp"
#include "loader/safetensors.hpp"
#include "tests/loader/cbm_editor.hpp"
#include "tests/loader/temporary_folder.hpp"
#include "tests/loader/tensor_files.hpp"

namespace {

// Every allocation of this program is counted. The size is kept in front of the memory.
std::atomic<std::size_t> live_bytes{0};
std::atomic<std::size_t> peak_bytes{0};

void* counted_new(std::size_t size, std::size_t alignment) {
  const std::size_t front = std::max(alignment, sizeof(std::max_align_t));
  void* memory = std::aligned_alloc(front, (size + front + front - 1) / front * front);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memcpy(memory, &size, sizeof size);
  const std::size_t now = live_bytes += size;
  std::size_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return static_cast<std::byte*>(memory) + front;
}

void counted_delete(void* pointer, std::size_t alignment) {
  if (pointer != nullptr) {
    void* memory = static_cast<std::byte*>(pointer) - std::max(alignment, sizeof(std::max_align_t));
    std::size_t size = 0;
    std::memcpy(&size, memory, sizeof size);
    live_bytes -= size;
    std::free(memory);
  }
}

}  // namespace

void* operator new(std::size_t size) {
  return counted_new(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept {
  counted_delete(pointer, 1);
}
void operator delete(void* pointer, std::size_t) noexcept {
  counted_delete(pointer, 1);
}
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  counted_delete(pointer, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer, std::size_t, std::align_val_t alignment) noexcept {
  counted_delete(pointer, static_cast<std::size_t>(alignment));
}

namespace crossbill::loader {
namespace {

/// Bytes allocated at the worst moment of `call`, which has to end in an Error.
std::size_t peak_of(const std::function<void()>& call) {
  const std::size_t before = live_bytes;
  peak_bytes = before;
  EXPECT_THROW(call(), Error);
  return peak_bytes - before;
}

constexpr std::size_t kSmall = 300'000;  // what a tiny model and messages take anyway

std::size_t peak_of_safetensors(const std::string& header) {
  const std::string bytes = with_header(header, "");
  return peak_of([&] { SafetensorsFile({std::as_bytes(std::span(bytes)), nullptr}, "m.safetensors"); });
}

TEST(Allocation, CountingWorks) {
  const std::size_t before = live_bytes;
  {
    const std::string text(1'000'000, 'x');
    EXPECT_GE(live_bytes - before, 1'000'000u);
  }
  EXPECT_EQ(live_bytes, before);
}

TEST(Allocation, SafetensorsHeadersCostAFewTimesTheirSize) {
  std::string many = "{";
  for (int i = 0; i < 20'000; ++i) {
    many.append("\"")
        .append(std::to_string(i))
        .append(R"(":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)");
  }
  many.back() = '}';
  std::string shape = R"({"a":{"dtype":"U8","shape":[)";
  for (int i = 0; i < 500'000; ++i) {
    shape += "1,";
  }
  const std::string metadata = R"({"__metadata__":{"a":")" + std::string(1'000'000, 'x') + R"("},)";
  for (const std::string& header :
       {many, shape, metadata, std::string(1'000'000, '['), "{\"" + std::string(1'000'000, 'x')}) {
    EXPECT_LE(peak_of_safetensors(header), 12 * header.size() + kSmall) << header.substr(0, 30);
  }
}

TEST(Allocation, ShapesAndCountsAreNotBelieved) {
  EXPECT_LE(peak_of_safetensors(
                R"({"a":{"dtype":"F32","shape":[1000000000000],"data_offsets":[0,4000000000000]}})"),
            kSmall);
  const std::string config =
      R"({"num_hidden_layers":1024,"hidden_size":65536,"num_attention_heads":1,"intermediate_size":131072,)"
      R"("vocab_size":16777216,"max_position_embeddings":1048576,"type_vocab_size":256})";
  TemporaryFolder folder;
  write_file(folder / "config.json", config);
  const auto tiny = std::filesystem::path(CROSSBILL_TEST_DATA) / "tiny" / "one-label";
  std::filesystem::copy_file(tiny / "model.safetensors", folder / "model.safetensors");
  EXPECT_LE(peak_of([&] { open_model(folder.path()); }), kSmall);
}

TEST(Allocation, JsonCostsABoundedMultipleOfItsSize) {
  std::string nested = "{\"a\":[";
  std::string keys = "{";
  for (int i = 0; i < 100'000; ++i) {
    nested += "[],";
    keys.append("\"").append(std::to_string(i)).append("\":0,");
  }
  for (const std::string& text : {nested, keys}) {
    EXPECT_LE(peak_of([&] { parse_config_json(text, "config.json"); }), 50 * text.size() + kSmall);
  }
}

TEST(Allocation, CbmCostsNoMoreThanItsMetadata) {
  TemporaryFolder out;
  pack_model(*open_model(std::filesystem::path(CROSSBILL_TEST_DATA) / "tiny" / "one-label"), out / "m.cbm",
             PackedWeights::int8);
  const std::string sound = read_file(out / "m.cbm");
  const auto peak = [&](const std::function<void(CbmEditor&)>& change) {
    CbmEditor file(sound);
    change(file);
    const std::string bytes = file.with_right_checksums();
    // 64-byte aligned, so that no copy is made.
    const std::unique_ptr<std::byte, void (*)(void*)> memory(
        static_cast<std::byte*>(std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64)), std::free);
    std::memcpy(memory.get(), bytes.data(), bytes.size());
    return peak_of([&] { open_model(std::span<const std::byte>(memory.get(), bytes.size()), nullptr); });
  };
  EXPECT_LE(peak([](CbmEditor& file) {
              file.section("pooler.weight").shape = {1u << 30, 1u << 30};
            }),
            kSmall);
  EXPECT_LE(peak([](CbmEditor& file) { file.header().version = 9; }), kSmall);
  const std::string deep(900'000, '[');
  EXPECT_LE(peak([&](CbmEditor& file) { file.replace("metadata", deep); }), deep.size() + kSmall);
  EXPECT_LE(peak([](CbmEditor& file) { file.section("classifier.bias").name[0] = 'x'; }), kSmall);
}

}  // namespace
}  // namespace crossbill::loader
