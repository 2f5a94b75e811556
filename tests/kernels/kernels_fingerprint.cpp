// Prints one line per kernel set of this machine and function: "<set> <function> <hash of the result's
// bits>".
//
// The inputs are the same everywhere and no result is NaN, so the hashes must be equal between sets,
// compilers and architectures; check_aarch64.sh compares those of an aarch64 build with those of this
// machine.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

#include "kernels/dispatch.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"

namespace {

using namespace crossbill::kernels;

/// A linear congruential generator: integers only, so the same on every machine.
class Generator {
 public:
  float unit() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<std::int32_t>(state_ >> 32)) * 0x1p-31f;
  }
  std::vector<float> values(std::size_t count, float scale) {
    std::vector<float> result(count);
    for (float& value : result) {
      value = unit() * scale;
    }
    return result;
  }

 private:
  std::uint64_t state_ = 1;
};

struct AlignedFloats {
  explicit AlignedFloats(std::size_t count)
      : data(static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t{64}))) {}
  ~AlignedFloats() { ::operator delete[](data, std::align_val_t{64}); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* data;
};

/// FNV-1a over the bits.
void print(const KernelSet& set, const char* function, const std::vector<float>& values) {
  std::uint64_t hash = 14695981039346656037u;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ (bits >> shift & 0xff)) * 1099511628211u;
    }
  }
  std::printf("%s %s %016llx\n", set.name, function, static_cast<unsigned long long>(hash));
}

void product(const KernelSet& set) {
  const std::size_t m = 13;
  const std::size_t n = 50;
  const std::size_t k = 312;
  Generator generator;
  const std::vector<float> a = generator.values(m * k, 2.0f);
  const std::vector<float> bias = generator.values(padded(n), 1.0f);
  AlignedFloats panels(f32_panel_size(n, k));
  for (std::size_t channel = 0; channel < n; ++channel) {
    put_f32_panel_row(panels.data, n, k, channel, generator.values(k, 0.1f).data());
  }
  std::vector<float> c(m * padded(n));
  set.product_f32({a.data(), k, panels.data, bias.data(), c.data(), padded(n), m, n, k});
  print(set, "product", c);
}

void attention(const KernelSet& set) {
  const std::size_t length = 77;
  const std::size_t head_dim = 26;
  Generator generator;
  const std::vector<float> q = generator.values(length * head_dim, 1.0f);
  const std::vector<float> k = generator.values(length * head_dim, 3.0f);
  const std::vector<float> v = generator.values(length * head_dim, 1.0f);
  AlignedFloats scratch(attention_scratch_f32(length, head_dim));
  std::vector<float> out(length * head_dim);
  set.attention_f32(
      {q.data(), k.data(), v.data(), head_dim, out.data(), head_dim, length, length, head_dim, scratch.data});
  print(set, "attention", out);
}

void layer_norm(const KernelSet& set) {
  const std::size_t rows = 5;
  const std::size_t n = 312;
  const std::size_t stride = padded(n);
  Generator generator;
  const std::vector<float> x = generator.values(rows * stride, 4.0f);
  const std::vector<float> residual = generator.values(rows * stride, 4.0f);
  const std::vector<float> gamma = generator.values(n, 1.0f);
  const std::vector<float> beta = generator.values(n, 1.0f);
  std::vector<float> y(rows * stride);
  set.layer_norm_f32(
      {x.data(), residual.data(), gamma.data(), beta.data(), y.data(), rows, n, stride, 1e-12f});
  print(set, "layer_norm", y);
}

/// Over floats of every exponent, denormals included.
void elementwise(const KernelSet& set, const char* name, void (*function)(float*, std::size_t)) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 100'003) {
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(std::bit_cast<float>(bits | 0x80000000u));
  }
  function(values.data(), values.size());
  print(set, name, values);
}

}  // namespace

int main() {
  for (const KernelSet* set : available_kernel_sets()) {
    product(*set);
    attention(*set);
    layer_norm(*set);
    elementwise(*set, "gelu_erf", set->gelu_erf_f32);
    elementwise(*set, "gelu_tanh", set->gelu_tanh_f32);
    elementwise(*set, "relu", set->relu_f32);
    elementwise(*set, "tanh", set->tanh_f32);
    elementwise(*set, "sigmoid", set->sigmoid_f32);
    elementwise(*set, "exp", set->exp_f32);
  }
  return 0;
}
