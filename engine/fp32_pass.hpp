// The forward pass in single precision, on a kernel set. A pair's logits have the same bits whatever stands
// beside it in the batch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/forward_pass.hpp"
#include "engine/fp32_weights.hpp"
#include "engine/hidden_trace.hpp"
#include "kernels/kernel_set.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

/// `Precision::fp32`. Widens all weights but the word embeddings when it is made: 4 bytes a weight.
class Fp32Pass final : public ForwardPass {
 public:
  /// `kernels` must be a set that this machine can run.
  Fp32Pass(std::shared_ptr<const loader::Model> model, const kernels::KernelSet& kernels);

  void run(const PackedBatch& batch, std::span<float> logits, Arena& arena) const override;
  /// Exactly what run() takes.
  std::size_t arena_bytes(std::size_t tokens, std::size_t longest) const override;
  std::size_t labels() const override;

  /// run() that also writes all hidden states down, and therefore computes the last layer for every token,
  /// not for [CLS] alone. `embeddings`, unless empty, replaces the embedding layer's output,
  /// [tokens][hidden].
  void run_traced(const PackedBatch& batch, std::span<const float> embeddings, std::span<float> logits,
                  Arena& arena, HiddenTrace& trace) const;

 private:
  std::shared_ptr<const loader::Model> model_;
  const kernels::KernelSet& kernels_;
  Fp32Weights weights_;
};

}  // namespace crossbill::engine
