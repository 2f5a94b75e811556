// How one attention call divides its scratch memory; the same for every kernel set. POD only.
//
//   keys      [padded(length)/16][head_dim][16]   Kᵀ as panels, key columns past `length` are zero
//   values    [padded(head_dim)/16][length][16]   V as panels, columns past head_dim are zero
//   scores    [kQueryBlock][padded(length)]       Q·Kᵀ of a block of queries, then exp(score − row maximum)
//   weighted  [kQueryBlock][padded(head_dim)]     scores·V, not yet divided by the row's sum
//
// Each part is a multiple of 16 floats long, so all of them are 64-byte aligned.
#pragma once

#include <stddef.h>

namespace crossbill::kernels {

/// Queries taken at once: a multiple of every micro-kernel's rows. At 512 tokens their scores take 48 KiB.
inline constexpr size_t kQueryBlock = 24;

}  // namespace crossbill::kernels
