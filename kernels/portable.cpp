// The portable kernel set: plain C++ for any CPU, and the set that all others are compared with bit for bit.
// Compiled for the baseline of its target. Where that has no fused multiply-add (x86-64), one is made from
// double arithmetic, which is correct and slow.
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_scratch.hpp"
#include "kernels/built_sets.hpp"
#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

namespace {

/// a·b + c, rounded once.
[[gnu::always_inline]] inline float fused_multiply_add(float a, float b, float c) {
#if defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  // The product of two 24-bit significands is exact in double; the sum isn't always, and rounding it to
  // double and then to float could round a tie the wrong way. So the sum is rounded to odd: if it is inexact
  // (two-sum gives the error exactly) and its last bit is 0, it moves one step towards the error, to an odd
  // neighbour. Double has more than two bits over float, so the rounding to float that follows is then the
  // right one, for subnormal results too. A NaN error (infinities) compares false and changes nothing.
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (addend - back);
  uint64_t bits = __builtin_bit_cast(uint64_t, sum);
  const uint64_t inexact = static_cast<uint64_t>(error < 0.0) | static_cast<uint64_t>(error > 0.0);
  const uint64_t inwards = (bits ^ __builtin_bit_cast(uint64_t, error)) >> 63;  // error points to zero
  const uint64_t step = inexact & ~bits & 1;
  bits += step - ((step & inwards) << 1);
  return static_cast<float>(__builtin_bit_cast(double, bits));
#endif
}

/// Sixteen floats; the loops are short and plain so that compilers turn them into vector code.
struct Lanes {
  float at[kLanes];
};

Lanes load(const float* from) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = from[j];
  return result;
}

void store(float* to, const Lanes& value) {
  for (size_t j = 0; j < kLanes; ++j) to[j] = value.at[j];
}

/// The first `count` lanes from memory, +0 in the others.
Lanes load_first(const float* from, size_t count) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = j < count ? from[j] : 0.0f;
  return result;
}

void store_first(float* to, const Lanes& value, size_t count) {
  for (size_t j = 0; j < count; ++j) to[j] = value.at[j];
}

/// The first `count` lanes of value, the others from `other`.
Lanes first_or(const Lanes& value, size_t count, const Lanes& other) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = j < count ? value.at[j] : other.at[j];
  return result;
}

Lanes set_all(float value) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = value;
  return result;
}

Lanes add(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] + b.at[j];
  return result;
}

Lanes sub(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] - b.at[j];
  return result;
}

Lanes mul(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] * b.at[j];
  return result;
}

Lanes div(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] / b.at[j];
  return result;
}

Lanes square_root(const Lanes& a) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = __builtin_sqrtf(a.at[j]);
  return result;
}

Lanes fma(const Lanes& a, const Lanes& b, const Lanes& c) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = fused_multiply_add(a.at[j], b.at[j], c.at[j]);
  return result;
}

Lanes min(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] < b.at[j] ? a.at[j] : b.at[j];
  return result;
}

Lanes max(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] > b.at[j] ? a.at[j] : b.at[j];
  return result;
}

/// Lanes of `yes` where a < b, else of `no` (also where either is NaN).
Lanes select_less(const Lanes& a, const Lanes& b, const Lanes& yes, const Lanes& no) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) result.at[j] = a.at[j] < b.at[j] ? yes.at[j] : no.at[j];
  return result;
}

/// |a|, by clearing the sign bit.
Lanes magnitude(const Lanes& a) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, a.at[j]) & 0x7fffffffu;
    result.at[j] = __builtin_bit_cast(float, bits);
  }
  return result;
}

/// `value`, which isn't negative, with the sign bit of `sign`.
Lanes with_sign_of(const Lanes& sign, const Lanes& value) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) {
    const uint32_t sign_bit = __builtin_bit_cast(uint32_t, sign.at[j]) & 0x80000000u;
    result.at[j] = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, value.at[j]) | sign_bit);
  }
  return result;
}

/// 2ⁿ⁻¹ for an integer n in [−125, 128], given as 1.5·2²³ + n: n sits in the low bits and becomes the
/// exponent.
Lanes half_power_of_two(const Lanes& shifted) {
  Lanes result;
  for (size_t j = 0; j < kLanes; ++j) {
    const uint32_t bits = (__builtin_bit_cast(uint32_t, shifted.at[j]) << 23) + (126u << 23);
    result.at[j] = __builtin_bit_cast(float, bits);
  }
  return result;
}

/// The fixed tree: lanes eight apart first, then four, two, one.
float sum_of_lanes(Lanes value) {
  for (size_t half = kLanes / 2; half != 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) value.at[j] += value.at[j + half];
  }
  return value.at[0];
}

float max_of_lanes(Lanes value) {
  for (size_t half = kLanes / 2; half != 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) {
      value.at[j] = value.at[j] > value.at[j + half] ? value.at[j] : value.at[j + half];
    }
  }
  return value.at[0];
}

/// One row of A times one panel: c[0 … 16) = Σ_k a[k]·panel[k][0 … 16) + bias.
void gemm_f32_1x16_portable(const float* a, const float* panel, const float* bias, float* c, size_t k) {
  Lanes sum = set_all(0.0f);
  for (size_t i = 0; i < k; ++i) {
    sum = fma(set_all(a[i]), load(panel + i * kLanes), sum);
  }
  store(c, bias != nullptr ? add(sum, load(bias)) : sum);
}

void product_f32(const ProductF32& job) {
  for (size_t column = 0; column < job.n; column += kLanes) {
    const float* panel = job.b + column * job.k;
    const float* bias = job.bias != nullptr ? job.bias + column : nullptr;
    for (size_t row = 0; row < job.m; ++row) {
      gemm_f32_1x16_portable(job.a + row * job.a_stride, panel, bias, job.c + row * job.c_stride + column,
                             job.k);
    }
  }
}

#include "kernels/lanes_elementwise.inl"
#include "kernels/lanes_layer_norm.inl"

// Attention is two products and a softmax, so it comes last.
#include "kernels/lanes_attention.inl"

}  // namespace

const KernelSet portable_set = {
    .name = "portable",
    .required = 0,
    .product_f32 = product_f32,
    .attention_f32 = attention_f32,
    .layer_norm_f32 = layer_norm_f32,
    .gelu_erf_f32 = map_in_place<gelu_erf_lanes>,
    .gelu_tanh_f32 = map_in_place<gelu_tanh_lanes>,
    .relu_f32 = map_in_place<relu_lanes>,
    .tanh_f32 = map_in_place<tanh_lanes>,
    .sigmoid_f32 = map_in_place<sigmoid_lanes>,
    .exp_f32 = map_in_place<exp_lanes>,
};

}  // namespace crossbill::kernels
