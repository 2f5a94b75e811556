// One table of plain functions per instruction set. POD only: this header is included by files with ISA
// flags.
//
// Every function has one defined order of operations, so all sets give the same bits (docs/design.md,
// "Numbers"):
//   * products: k ascending, one fused multiply-add per step and output element, bias added last;
//   * reductions over a row: sixteen lanes, lane j takes elements j, j+16, …, then a fixed tree;
//   * element-wise functions: the same polynomial, the same fma where one is written.
// A NaN stays a NaN in every set; which of the NaN bit patterns it is isn't promised.
// Rows of activations are padded to a multiple of 16 floats; kernels write whole groups of 16 columns.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace crossbill::kernels {

/// Floats in a group of columns, and lanes of a reduction.
inline constexpr size_t kLanes = 16;

/// The next multiple of 16. Always inlined: a copy left in an object built for AVX-512 might be the one the
/// linker keeps for everybody.
[[gnu::always_inline]] constexpr size_t padded(size_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

/// C[m][n] = Σ_k A[m][k]·B[k][n] + bias[n].
struct ProductF32 {
  const float* a;     ///< [m] rows of k floats
  size_t a_stride;    ///< floats from one row of A to the next
  const float* b;     ///< panels [padded(n)/16][k][16], 64-byte aligned, columns past n are zero
  const float* bias;  ///< [padded(n)], or null for none
  float* c;           ///< [m] rows; padded(n) floats of each are written
  size_t c_stride;    ///< floats from one row of C to the next, at least padded(n)
  size_t m, n, k;
};

/// softmax(Q·Kᵀ)·V of one head of one pair. Q carries the factor 1/sqrt(head_dim) already.
struct AttentionF32 {
  const float* q;  ///< first query row of this head; `queries` rows
  const float* k;  ///< `length` rows
  const float* v;  ///< `length` rows
  size_t stride;   ///< floats from one row of q, k and v to the next
  float* out;      ///< `queries` rows of head_dim floats; nothing beyond them is written
  size_t out_stride;
  size_t queries;  ///< rows of the result: `length`, or 1 for [CLS] alone
  size_t length;   ///< tokens of the pair
  size_t head_dim;
  float* scratch;  ///< 64-byte aligned, attention_scratch_f32(length, head_dim) floats
};

/// Scratch that one attention call needs: K and V as panels and a block of score rows; never quadratic.
size_t attention_scratch_f32(size_t length, size_t head_dim);

/// y = LayerNorm(x + residual)·gamma + beta, row by row; statistics as PyTorch's: biased variance, two
/// passes.
struct LayerNormF32 {
  const float* x;         ///< [rows][stride]
  const float* residual;  ///< [rows][stride], or null
  const float* gamma;     ///< [n]
  const float* beta;      ///< [n]
  float* y;               ///< [rows][stride], may be x; columns n … padded(n) are written as +0
  size_t rows, n;
  size_t stride;  ///< of x, residual and y; at least padded(n)
  float epsilon;
};

struct KernelSet {
  const char* name;   ///< "portable", "avx2", …
  uint32_t required;  ///< CpuFeature bits
  void (*product_f32)(const ProductF32&);
  void (*attention_f32)(const AttentionF32&);
  void (*layer_norm_f32)(const LayerNormF32&);
  /// In place on n floats; n need not be a multiple of 16 and nothing beyond is touched. Error bounds are
  /// those that the tests hold, against long double; NaN stays NaN.
  void (*gelu_erf_f32)(float* x, size_t n);   ///< x·Φ(x), the exact form: max(2e-7, 1 ulp)
  void (*gelu_tanh_f32)(float* x, size_t n);  ///< "gelu_new", the tanh formula: max(2e-7, 2 ulp)
  void (*relu_f32)(float* x, size_t n);       ///< exact
  void (*tanh_f32)(float* x, size_t n);       ///< 2 ulp, near 0 too; odd, −0 stays −0
  void (*sigmoid_f32)(float* x,
                      size_t n);        ///< 3 ulp down to the smallest normal result, never outside [0, 1]
  void (*exp_f32)(float* x, size_t n);  ///< 2 ulp; +0 below −64
};

}  // namespace crossbill::kernels
