// Pairs, tokens and floating-point operations a second of the fp32 pass on one thread, tokenising left out,
// for every kernel set of this machine but the portable one. CROSSBILL_BENCH_MODEL names a model to take
// instead of the bundled one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "kernels/dispatch.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {
namespace {

constexpr std::size_t kChunkTokens = 512;

std::shared_ptr<const loader::Model> model() {
  static const auto opened = [] {
    const char* path = std::getenv("CROSSBILL_BENCH_MODEL");
    return loader::open_model(path != nullptr ? path : CROSSBILL_MODELS "/crossbill-minilm-l3.cbm");
  }();
  return opened;
}

/// Lengths of 110 query-passage pairs as passage search has them: the deciles of TREC Deep Learning 2020's
/// BM25 lists (mean 96 tokens), spread evenly in between.
std::vector<std::size_t> mixed_lengths() {
  constexpr std::size_t kDeciles[] = {24, 56, 66, 73, 80, 86, 96, 108, 122, 148, 286};
  std::vector<std::size_t> lengths;
  for (std::size_t part = 0; part < 10; ++part)
    for (std::size_t step = 0; step < 11; ++step)
      lengths.push_back(kDeciles[part] + (kDeciles[part + 1] - kDeciles[part]) * step / 11);
  return lengths;
}

/// Chunks of up to 512 tokens, longest pairs first.
std::vector<PackedBatch> packed(std::vector<std::size_t> lengths) {
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> ids(0,
                                                  static_cast<std::int32_t>(model()->config.vocab_size) - 1);
  std::vector<PackedBatch> batches(1);
  for (const std::size_t length : lengths) {
    if (batches.back().pairs() > 0 && batches.back().tokens() + length > kChunkTokens) batches.emplace_back();
    EncodedPair pair;
    for (std::size_t token = 0; token < length; ++token) {
      pair.ids.push_back(ids(random));
      pair.type_ids.push_back(token < 10 ? 0 : 1);
    }
    batches.back().append(pair);
  }
  return batches;
}

/// Multiplications and additions in the products and in attention of one pair; the last layer for [CLS] only.
double operations(const loader::Config& config, std::size_t length) {
  const auto hidden = static_cast<double>(config.hidden_size);
  const auto inner = static_cast<double>(config.intermediate_size);
  const auto tokens = static_cast<double>(length);
  const double key_value = 2 * 2 * hidden * hidden;
  const double rest =
      2 * (2 * hidden * hidden + 2 * hidden * inner);  // query, attention output, feed-forward
  const double attention = 4 * hidden * tokens;        // of one query, all heads
  const double whole_layers = static_cast<double>(config.num_hidden_layers) - 1;
  return whole_layers * tokens * (key_value + rest + attention) + tokens * key_value + rest + attention +
         2 * hidden * hidden;
}

void run_pass(benchmark::State& state, const kernels::KernelSet& kernels,
              const std::vector<std::size_t>& lengths) {
  const Fp32Pass pass(model(), kernels);
  const std::vector<PackedBatch> batches = packed(lengths);
  std::vector<float> logits(lengths.size() * pass.labels());
  Arena arena;
  for (auto _ : state) {
    std::size_t done = 0;
    for (const PackedBatch& batch : batches) {
      const std::size_t count = batch.pairs() * pass.labels();
      pass.run(batch, std::span(logits).subspan(done, count), arena);
      done += count;
    }
    benchmark::DoNotOptimize(logits.data());
  }
  double tokens = 0, flop = 0;
  for (const std::size_t length : lengths) {
    tokens += static_cast<double>(length);
    flop += operations(model()->config, length);
  }
  const auto rate = [](double count) {
    return benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["pairs/s"] = rate(static_cast<double>(lengths.size()));
  state.counters["tokens/s"] = rate(tokens);
  state.counters["FLOP/s"] = rate(flop);
}

const bool kRegistered = [] {
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    const std::string name = kernels->name;
    if (name == "portable") continue;
    const auto add = [&](const std::string& what, std::vector<std::size_t> lengths) {
      benchmark::RegisterBenchmark(("fp32/" + name + "/" + what).c_str(), [kernels,
                                                                           lengths](benchmark::State& state) {
        run_pass(state, *kernels, lengths);
      })->Unit(benchmark::kMillisecond);
    };
    for (const std::size_t length : {16, 64, 128, 512})
      add("tokens:" + std::to_string(length), std::vector<std::size_t>(2048 / length, length));
    add("mixed", mixed_lengths());
  }
  return true;
}();

}  // namespace
}  // namespace crossbill::engine
