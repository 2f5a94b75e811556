// What opening a model costs, step by step, from the file to the first score. The file is in the page cache
// ("warm": a program that starts again); the first open after the machine has started, from disk, is colder
// by the time that reading the file takes. The start of a process itself is measured from outside, with
// `crossbill score` on one line.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "crossbill/crossbill.hpp"
#include "engine/fp32_pass.hpp"
#include "kernels/dispatch.hpp"
#include "loader/model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

using namespace crossbill;

/// CROSSBILL_BENCH_MODEL, else the bundled model.
std::string model_path() {
  const char* path = std::getenv("CROSSBILL_BENCH_MODEL");
  return path ? path : CROSSBILL_MODELS "/crossbill-minilm-l3.cbm";
}

/// Map (or read) the file and check all of it.
void open_warm(benchmark::State& state) {
  const auto mode = state.range(0) == 0 ? loader::LoadMode::map : loader::LoadMode::copy;
  const std::string path = model_path();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto model = loader::open_model(path, mode);
    bytes = model->bytes;
    benchmark::DoNotOptimize(model);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.SetLabel(state.range(0) == 0 ? "map and verify" : "copy and verify");
}
BENCHMARK(open_warm)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// The vocabulary's lookup lies ready in the file; what is left is the tokenizer's own set-up.
void tokenizer_construction(benchmark::State& state) {
  const auto model = loader::open_model(model_path());
  for (auto _ : state) {
    const tokenizer::Tokenizer tokenizer(model->tokenizer_settings, model->vocabulary);
    benchmark::DoNotOptimize(&tokenizer);
  }
}
BENCHMARK(tokenizer_construction)->Unit(benchmark::kMillisecond);

/// Widen the weights of the layers to f32 panels.
void fp32_pass_construction(benchmark::State& state) {
  const auto model = loader::open_model(model_path());
  for (auto _ : state) {
    const engine::Fp32Pass pass(model, kernels::best_kernel_set());
    benchmark::DoNotOptimize(&pass);
  }
}
BENCHMARK(fp32_pass_construction)->Unit(benchmark::kMillisecond);

Options one_thread() {
  Options options;
  options.threads = 1;
  return options;
}

const char* const kQuery = "what is the capital of australia";
const char* const kPassage = "Canberra is the capital city of Australia.";

/// All of it: open, and score one short pair.
void open_and_first_score(benchmark::State& state) {
  const std::string path = model_path();
  for (auto _ : state) {
    const Reranker reranker(path, one_thread());
    benchmark::DoNotOptimize(reranker.score(kQuery, kPassage));
  }
}
BENCHMARK(open_and_first_score)->Unit(benchmark::kMillisecond);

/// The same pair when everything is warm.
void later_score(benchmark::State& state) {
  const Reranker reranker(model_path(), one_thread());
  for (auto _ : state) benchmark::DoNotOptimize(reranker.score(kQuery, kPassage));
}
BENCHMARK(later_score)->Unit(benchmark::kMillisecond);

}  // namespace
