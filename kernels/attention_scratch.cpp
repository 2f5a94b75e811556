// The size of an attention call's scratch memory.
#include "kernels/attention_scratch.hpp"

#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

size_t attention_scratch_f32(size_t length, size_t head_dim) {
  const size_t keys = padded(length) * head_dim;
  const size_t values = padded(head_dim) * length;
  const size_t block = kQueryBlock * (padded(length) + padded(head_dim));
  return keys + values + block;
}

}  // namespace crossbill::kernels
