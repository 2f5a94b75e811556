// Speed of each kernel set on this machine: products at the shapes of MiniLM (hidden 384, intermediate 1536),
// attention by length, element-wise functions and LayerNorm.
//
// A product's "share" is what it reaches of the machine's multiply-add peak at the set's width, which is
// measured just before it in the same process.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>

#include "kernels/dispatch.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using crossbill::kernels::AttentionF32;
using crossbill::kernels::KernelSet;
using crossbill::kernels::LayerNormF32;
using crossbill::kernels::padded;
using crossbill::kernels::ProductF32;

struct FreeAligned {
  void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};
using Floats = std::unique_ptr<float[], FreeAligned>;

/// 64-byte aligned values, evenly distributed in [−1, 1).
Floats random_floats(std::size_t count) {
  auto* memory = static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t{64}));
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
  for (std::size_t i = 0; i < count; ++i) {
    memory[i] = distribution(generator);
  }
  return Floats(memory);
}

/// The operands of one product.
struct Product {
  Product(std::size_t m, std::size_t n, std::size_t k)
      : a(random_floats(m * k)),
        b(random_floats(crossbill::kernels::f32_panel_size(n, k))),
        bias(random_floats(padded(n))),
        c(random_floats(m * padded(n))),
        job{a.get(), k, b.get(), bias.get(), c.get(), padded(n), m, n, k} {}

  double flops() const { return 2.0 * static_cast<double>(job.m * job.n * job.k); }

  Floats a, b, bias, c;
  ProductF32 job;
};

#if defined(__x86_64__)
/// Multiply-adds in independent chains that live in registers, enough of them to hide the latency; returns
/// floating-point operations done. The sum is handed out so that the compiler keeps the work.
__attribute__((target("avx2,fma"))) double run_chains_avx2(std::size_t steps, float* sum) {
  __m256 chains[12];
  for (__m256& chain : chains) {
    chain = _mm256_set1_ps(1.0f);
  }
  const __m256 factor = _mm256_set1_ps(0.5f);
  for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < 12; ++i) {
      chains[i] = _mm256_fmadd_ps(chains[i], factor, factor);
    }
  }
  for (const __m256& chain : chains) {
    *sum += _mm256_cvtss_f32(chain);
  }
  return 2.0 * 8 * 12 * static_cast<double>(steps);
}

__attribute__((target("avx512f"))) double run_chains_avx512(std::size_t steps, float* sum) {
  __m512 chains[12];
  for (__m512& chain : chains) {
    chain = _mm512_set1_ps(1.0f);
  }
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (std::size_t i = 0; i < 12; ++i) {
      chains[i] = _mm512_fmadd_ps(chains[i], factor, factor);
    }
  }
  for (const __m512& chain : chains) {
    *sum += _mm512_cvtss_f32(chain);
  }
  return 2.0 * 16 * 12 * static_cast<double>(steps);
}
#endif

/// The best rate of several short runs of multiply-adds of the set's width in flop/s; 0 where there is no
/// such measurement.
double peak_flops([[maybe_unused]] const KernelSet& set) {
  double best = 0.0;
#if defined(__x86_64__)
  double (*chains)(std::size_t, float*) = nullptr;
  if (std::string_view(set.name) == "avx2") {
    chains = run_chains_avx2;
  } else if (std::string_view(set.name) == "avx512") {
    chains = run_chains_avx512;
  } else {
    return best;
  }
  for (int attempt = 0; attempt < 20; ++attempt) {
    float sum = 0.0f;
    const auto start = std::chrono::steady_clock::now();
    const double flops = chains(20000, &sum);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    benchmark::DoNotOptimize(sum);
    best = std::max(best, flops / seconds.count());
  }
#endif
  return best;
}

void bench_product(benchmark::State& state, const KernelSet& set) {
  const Product product(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
                        static_cast<std::size_t>(state.range(2)));
  const double peak = peak_flops(set);
  for (auto _ : state) {
    set.product_f32(product.job);
    benchmark::ClobberMemory();
  }
  const double flops = product.flops() * static_cast<double>(state.iterations());
  state.counters["flop/s"] = benchmark::Counter(flops, benchmark::Counter::kIsRate);
  if (peak > 0.0) {
    state.counters["share"] = benchmark::Counter(flops / peak, benchmark::Counter::kIsRate);
  }
}

void bench_attention(benchmark::State& state, const KernelSet& set) {
  const auto length = static_cast<std::size_t>(state.range(0));
  const auto queries = state.range(1) == 0 ? length : static_cast<std::size_t>(state.range(1));
  const std::size_t hidden = 384;
  const std::size_t head_dim = 32;
  const Floats qkv = random_floats(length * 3 * hidden);
  const Floats out = random_floats(length * hidden);
  const Floats scratch = random_floats(crossbill::kernels::attention_scratch_f32(length, head_dim));
  const AttentionF32 job{
      qkv.get(), qkv.get() + hidden, qkv.get() + 2 * hidden, 3 * hidden, out.get(), hidden, queries,
      length,    head_dim,           scratch.get()};
  for (auto _ : state) {
    set.attention_f32(job);
    benchmark::ClobberMemory();
  }
  const double flops = 4.0 * static_cast<double>(queries * length * head_dim);
  state.counters["flop/s"] =
      benchmark::Counter(flops * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void bench_layer_norm(benchmark::State& state, const KernelSet& set) {
  const std::size_t rows = 48;
  const std::size_t n = 384;
  const Floats x = random_floats(rows * n);
  const Floats residual = random_floats(rows * n);
  const Floats gamma = random_floats(n);
  const Floats beta = random_floats(n);
  const Floats y = random_floats(rows * n);
  const LayerNormF32 job{x.get(), residual.get(), gamma.get(), beta.get(), y.get(), rows, n, n, 1e-12f};
  for (auto _ : state) {
    set.layer_norm_f32(job);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * rows * n));
}

void bench_elementwise(benchmark::State& state, void (*function)(float*, std::size_t)) {
  const std::size_t n = 4096;
  const Floats input = random_floats(n);
  const Floats x = random_floats(n);
  for (auto _ : state) {
    // From the same values each time, else repeated application would run into a fixed point.
    std::copy(input.get(), input.get() + n, x.get());
    function(x.get(), n);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * n));
}

/// m, n, k of the products of MiniLM: QKV in one, attention output, FFN up, FFN down.
void minilm_shapes(benchmark::internal::Benchmark* benchmark, bool slow) {
  benchmark->ArgNames({"m", "n", "k"});
  for (const std::int64_t m : {1, 8, 13, 48, 128, 512}) {
    if (slow && m > 48) {
      break;
    }
    benchmark->Args({m, 1152, 384})->Args({m, 384, 384})->Args({m, 1536, 384})->Args({m, 384, 1536});
  }
}

void register_set(const KernelSet& set) {
  const std::string name = set.name;
  const bool slow = name == "portable";
  const auto with_set = [&set](auto function) {
    return [&set, function](benchmark::State& state) { function(state, set); };
  };
  minilm_shapes(benchmark::RegisterBenchmark(("product/" + name).c_str(), with_set(bench_product)), slow);
  auto* attention = benchmark::RegisterBenchmark(("attention/" + name).c_str(), with_set(bench_attention));
  attention->ArgNames({"length", "queries"});
  for (const std::int64_t length : {16, 64, 128, 256, 512}) {
    attention->Args({length, 0})->Args({length, 1});
  }
  benchmark::RegisterBenchmark(("layer_norm/" + name).c_str(), with_set(bench_layer_norm));
  const auto elementwise = [&name](const char* what, void (*function)(float*, std::size_t)) {
    benchmark::RegisterBenchmark((std::string(what) + "/" + name).c_str(),
                                 [function](benchmark::State& state) { bench_elementwise(state, function); });
  };
  elementwise("gelu_erf", set.gelu_erf_f32);
  elementwise("gelu_tanh", set.gelu_tanh_f32);
  elementwise("tanh", set.tanh_f32);
  elementwise("exp", set.exp_f32);
}

const bool registered = [] {
  for (const KernelSet* set : crossbill::kernels::available_kernel_sets()) {
    register_set(*set);
  }
  return true;
}();

}  // namespace
