// The AVX2 kernel set (with FMA and F16C): sixteen lanes are two 256-bit registers.
// Compiled with -mavx2 -mfma -mf16c; may include intrinsics and plain-data headers only (kernels/README.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_scratch.hpp"
#include "kernels/built_sets.hpp"
#include "kernels/cpu_features.hpp"
#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

namespace {

struct Lanes {
  __m256 low;   // lanes 0 … 7
  __m256 high;  // lanes 8 … 15
};

inline Lanes load(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}

inline void store(float* to, Lanes value) {
  _mm256_storeu_ps(to, value.low);
  _mm256_storeu_ps(to + 8, value.high);
}

/// All bits set in each of the lanes first … first + 7 whose index is below `count`.
inline __m256i mask_below(size_t count, int first) {
  const __m256i index = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), index);
}

/// The first `count` lanes from memory, +0 in the others; lanes that are masked out aren't read.
inline Lanes load_first(const float* from, size_t count) {
  return {_mm256_maskload_ps(from, mask_below(count, 0)), _mm256_maskload_ps(from + 8, mask_below(count, 8))};
}

inline void store_first(float* to, Lanes value, size_t count) {
  _mm256_maskstore_ps(to, mask_below(count, 0), value.low);
  _mm256_maskstore_ps(to + 8, mask_below(count, 8), value.high);
}

/// The first `count` lanes of value, the others from `other`.
inline Lanes first_or(Lanes value, size_t count, Lanes other) {
  return {_mm256_blendv_ps(other.low, value.low, _mm256_castsi256_ps(mask_below(count, 0))),
          _mm256_blendv_ps(other.high, value.high, _mm256_castsi256_ps(mask_below(count, 8)))};
}

inline Lanes set_all(float value) {
  return {_mm256_set1_ps(value), _mm256_set1_ps(value)};
}

inline Lanes add(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Lanes sub(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Lanes mul(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Lanes div(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
inline Lanes square_root(Lanes a) {
  return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)};
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline Lanes min(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
inline Lanes max(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

/// Lanes of `yes` where a < b, else of `no` (also where either is NaN).
inline Lanes select_less(Lanes a, Lanes b, Lanes yes, Lanes no) {
  return {_mm256_blendv_ps(no.low, yes.low, _mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ)),
          _mm256_blendv_ps(no.high, yes.high, _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ))};
}

/// |a|, by clearing the sign bit.
inline Lanes magnitude(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
}

/// `value`, which isn't negative, with the sign bit of `sign`.
inline Lanes with_sign_of(Lanes sign, Lanes value) {
  const __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(value.low, _mm256_and_ps(bit, sign.low)),
          _mm256_or_ps(value.high, _mm256_and_ps(bit, sign.high))};
}

inline __m256 half_power_of_two(__m256 shifted) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(126 << 23)));
}

/// 2ⁿ⁻¹ for an integer n in [−125, 128], given as 1.5·2²³ + n: n sits in the low bits and becomes the
/// exponent.
inline Lanes half_power_of_two(Lanes shifted) {
  return {half_power_of_two(shifted.low), half_power_of_two(shifted.high)};
}

/// The fixed tree: lanes eight apart first, then four, two, one.
inline float sum_of_lanes(Lanes value) {
  const __m256 eight = _mm256_add_ps(value.low, value.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float max_of_lanes(Lanes value) {
  const __m256 eight = _mm256_max_ps(value.low, value.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/// Rows of the tile: 6 × 16 results are 12 accumulators, which with 2 registers for B and 1 for A fit the
/// sixteen there are, and are enough to keep two FMA units with a latency of 4 busy (8 are needed).
constexpr size_t kTileRows = 6;
constexpr size_t kTilePanels = 1;

/// `rows` rows of A times one panel, rows ≤ 6. Not inlined, and every loop over accumulators unrolled, so
/// that they live in registers.
template <size_t rows>
[[gnu::noinline]] void gemm_f32_6x16_avx2(const float* a, size_t a_stride, const float* panel,
                                          const float* bias, float* c, size_t c_stride, size_t k) {
  __m256 low[rows];
  __m256 high[rows];
#pragma GCC unroll 6
  for (size_t row = 0; row < rows; ++row) {
    low[row] = _mm256_setzero_ps();
    high[row] = _mm256_setzero_ps();
  }
  for (size_t i = 0; i < k; ++i) {
    const __m256 b_low = _mm256_load_ps(panel);
    const __m256 b_high = _mm256_load_ps(panel + 8);
#pragma GCC unroll 6
    for (size_t row = 0; row < rows; ++row) {
      const __m256 element = _mm256_broadcast_ss(a + row * a_stride);
      low[row] = _mm256_fmadd_ps(element, b_low, low[row]);
      high[row] = _mm256_fmadd_ps(element, b_high, high[row]);
    }
    panel += kLanes;
    ++a;
  }
#pragma GCC unroll 6
  for (size_t row = 0; row < rows; ++row) {
    Lanes sum = {low[row], high[row]};
    if (bias != nullptr) {
      sum = add(sum, load(bias));
    }
    store(c + row * c_stride, sum);
  }
}

using MicroKernel = void (*)(const float* a, size_t a_stride, const float* panel, const float* bias, float* c,
                             size_t c_stride, size_t k);

constexpr MicroKernel kMicroKernels[kTilePanels][kTileRows] = {
    {gemm_f32_6x16_avx2<1>, gemm_f32_6x16_avx2<2>, gemm_f32_6x16_avx2<3>, gemm_f32_6x16_avx2<4>,
     gemm_f32_6x16_avx2<5>, gemm_f32_6x16_avx2<6>},
};

#include "kernels/product_driver.inl"

#include "kernels/lanes_elementwise.inl"
#include "kernels/lanes_layer_norm.inl"

// Attention is two products and a softmax, so it comes last.
#include "kernels/lanes_attention.inl"

}  // namespace

const KernelSet avx2_set = {
    .name = "avx2",
    .required = cpu_avx2,
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
