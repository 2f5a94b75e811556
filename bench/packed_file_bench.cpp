// What opening a packed file spends on its checks, part by part, and what quantising costs. The file is warm:
// the page cache holds it.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

#include "kernels/panels.hpp"
#include "loader/checksum.hpp"
#include "loader/file_bytes.hpp"
#include "loader/model.hpp"
#include "loader/panel_check.hpp"
#include "loader/quantiser.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::loader {
namespace {

const std::filesystem::path kModel = std::filesystem::path(CROSSBILL_MODELS) / "crossbill-minilm-l3.cbm";

void open_cbm(benchmark::State& state, LoadMode mode) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(open_model(kModel, mode));
  }
}
BENCHMARK_CAPTURE(open_cbm, mapped, LoadMode::map)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_cbm, copied, LoadMode::copy)->Unit(benchmark::kMillisecond);

void map_and_touch(benchmark::State& state) {
  for (auto _ : state) {
    const FileBytes file = open_file(kModel, LoadMode::map);
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < file.bytes.size(); at += 4096) {
      sum += std::to_integer<std::uint64_t>(file.bytes[at]);
    }
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(map_and_touch)->Unit(benchmark::kMillisecond);

void checksum_of_the_file(benchmark::State& state) {
  const FileBytes file = open_file(kModel, LoadMode::copy);
  for (auto _ : state) {
    benchmark::DoNotOptimize(checksum(file.bytes));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(file.bytes.size() * state.iterations()));
}
BENCHMARK(checksum_of_the_file)->Unit(benchmark::kMillisecond);

void check_panels_of_a_feed_forward(benchmark::State& state) {
  constexpr std::size_t kRows = 1536;
  constexpr std::size_t kCols = 384;
  const std::vector<std::int8_t> panels(kernels::s8_panel_size(kRows, kCols));
  const std::vector<std::int32_t> sums(kRows);
  for (auto _ : state) {
    check_panels(panels, sums, kRows, kCols, "bench");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(panels.size() * state.iterations()));
}
BENCHMARK(check_panels_of_a_feed_forward)->Unit(benchmark::kMillisecond);

void view_vocabulary(benchmark::State& state) {
  const auto model = open_model(kModel, LoadMode::copy);
  for (auto _ : state) {
    benchmark::DoNotOptimize(tokenizer::Vocabulary::view(model->vocabulary.block(), nullptr));
  }
}
BENCHMARK(view_vocabulary)->Unit(benchmark::kMillisecond);

void quantise_rows(benchmark::State& state) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> row(384);
  for (float& value : row) {
    value = normal(random);
  }
  std::vector<std::int8_t> q(row.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(quantise_channel(row, q));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(row.size() * state.iterations()));
}
BENCHMARK(quantise_rows);

}  // namespace
}  // namespace crossbill::loader
