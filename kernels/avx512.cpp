// The AVX-512 kernel set (F, BW, DQ, VL): sixteen lanes are one 512-bit register.
// Compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl on top of avx2.cpp's flags; may include intrinsics
// and plain-data headers only (kernels/README.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_scratch.hpp"
#include "kernels/built_sets.hpp"
#include "kernels/cpu_features.hpp"
#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

namespace {

using Lanes = __m512;

inline Lanes load(const float* from) {
  return _mm512_loadu_ps(from);
}

inline void store(float* to, Lanes value) {
  _mm512_storeu_ps(to, value);
}

inline __mmask16 mask_below(size_t count) {
  return static_cast<__mmask16>((1u << count) - 1);
}

/// The first `count` lanes from memory, +0 in the others; lanes that are masked out aren't read.
inline Lanes load_first(const float* from, size_t count) {
  return _mm512_maskz_loadu_ps(mask_below(count), from);
}

inline void store_first(float* to, Lanes value, size_t count) {
  _mm512_mask_storeu_ps(to, mask_below(count), value);
}

/// The first `count` lanes of value, the others from `other`.
inline Lanes first_or(Lanes value, size_t count, Lanes other) {
  return _mm512_mask_blend_ps(mask_below(count), other, value);
}

inline Lanes set_all(float value) {
  return _mm512_set1_ps(value);
}
inline Lanes add(Lanes a, Lanes b) {
  return _mm512_add_ps(a, b);
}
inline Lanes sub(Lanes a, Lanes b) {
  return _mm512_sub_ps(a, b);
}
inline Lanes mul(Lanes a, Lanes b) {
  return _mm512_mul_ps(a, b);
}
inline Lanes div(Lanes a, Lanes b) {
  return _mm512_div_ps(a, b);
}
inline Lanes square_root(Lanes a) {
  return _mm512_sqrt_ps(a);
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Lanes min(Lanes a, Lanes b) {
  return _mm512_min_ps(a, b);
}
inline Lanes max(Lanes a, Lanes b) {
  return _mm512_max_ps(a, b);
}

/// Lanes of `yes` where a < b, else of `no` (also where either is NaN).
inline Lanes select_less(Lanes a, Lanes b, Lanes yes, Lanes no) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes);
}

/// |a|, by clearing the sign bit.
inline Lanes magnitude(Lanes a) {
  return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a);
}

/// `value`, which isn't negative, with the sign bit of `sign`.
inline Lanes with_sign_of(Lanes sign, Lanes value) {
  return _mm512_or_ps(value, _mm512_and_ps(_mm512_set1_ps(-0.0f), sign));
}

/// 2ⁿ⁻¹ for an integer n in [−125, 128], given as 1.5·2²³ + n: n sits in the low bits and becomes the
/// exponent.
inline Lanes half_power_of_two(Lanes shifted) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(126 << 23)));
}

/// The fixed tree: lanes eight apart first, then four, two, one.
inline float sum_of_lanes(Lanes value) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(value), _mm512_extractf32x8_ps(value, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float max_of_lanes(Lanes value) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(value), _mm512_extractf32x8_ps(value, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/// The tile: 8 rows × 2 panels of 16 columns are 16 accumulators, twice what two FMA units with a latency of
/// 4 need. Each broadcast element of A serves two multiply-adds, each line of B eight. 12 rows would read B
/// less often and do fit the 32 registers, but measured no faster with Clang and slower with GCC 12, which
/// runs out of address registers for the rows of A.
constexpr size_t kTileRows = 8;
constexpr size_t kTilePanels = 2;

/// rows ≤ 8 rows of A times `panels` ≤ 2 adjacent panels. Not inlined, and every loop over accumulators
/// unrolled, so that they live in registers.
template <size_t rows, size_t panels>
[[gnu::noinline]] void gemm_f32_8x32_avx512(const float* a, size_t a_stride, const float* panel,
                                            const float* bias, float* c, size_t c_stride, size_t k) {
  __m512 sum[rows][panels];
#pragma GCC unroll 8
  for (size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; ++p) {
      sum[row][p] = _mm512_setzero_ps();
    }
  }
  const size_t panel_size = k * kLanes;
  for (size_t i = 0; i < k; ++i) {
    __m512 b[panels];
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; ++p) {
      b[p] = _mm512_load_ps(panel + p * panel_size);
    }
#pragma GCC unroll 8
    for (size_t row = 0; row < rows; ++row) {
      const __m512 element = _mm512_set1_ps(a[row * a_stride]);
#pragma GCC unroll 2
      for (size_t p = 0; p < panels; ++p) {
        sum[row][p] = _mm512_fmadd_ps(element, b[p], sum[row][p]);
      }
    }
    panel += kLanes;
    ++a;
  }
#pragma GCC unroll 8
  for (size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; ++p) {
      const size_t column = p * kLanes;
      store(c + row * c_stride + column,
            bias != nullptr ? add(sum[row][p], load(bias + column)) : sum[row][p]);
    }
  }
}

using MicroKernel = void (*)(const float* a, size_t a_stride, const float* panel, const float* bias, float* c,
                             size_t c_stride, size_t k);

constexpr MicroKernel kMicroKernels[kTilePanels][kTileRows] = {
    {gemm_f32_8x32_avx512<1, 1>, gemm_f32_8x32_avx512<2, 1>, gemm_f32_8x32_avx512<3, 1>,
     gemm_f32_8x32_avx512<4, 1>, gemm_f32_8x32_avx512<5, 1>, gemm_f32_8x32_avx512<6, 1>,
     gemm_f32_8x32_avx512<7, 1>, gemm_f32_8x32_avx512<8, 1>},
    {gemm_f32_8x32_avx512<1, 2>, gemm_f32_8x32_avx512<2, 2>, gemm_f32_8x32_avx512<3, 2>,
     gemm_f32_8x32_avx512<4, 2>, gemm_f32_8x32_avx512<5, 2>, gemm_f32_8x32_avx512<6, 2>,
     gemm_f32_8x32_avx512<7, 2>, gemm_f32_8x32_avx512<8, 2>},
};

#include "kernels/product_driver.inl"

#include "kernels/lanes_elementwise.inl"
#include "kernels/lanes_layer_norm.inl"

// Attention is two products and a softmax, so it comes last.
#include "kernels/lanes_attention.inl"

}  // namespace

const KernelSet avx512_set = {
    .name = "avx512",
    .required = cpu_avx512,
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
