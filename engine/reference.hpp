// The forward pass in plain loops and double precision: what every other pass is checked against, and the
// place to read how a BERT cross-encoder works. It is never optimised.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "crossbill/encoding.hpp"
#include "engine/forward_pass.hpp"
#include "engine/hidden_trace.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

/// The logits [labels] of one pair. `trace`, if given, receives all hidden states in between.
std::vector<double> reference_logits(const loader::Model& model, const EncodedPair& pair,
                                     HiddenTrace* trace = nullptr);

/// The same from the output of the embedding layer on, [tokens][hidden]: for encoders that come without
/// embedding tables.
std::vector<double> reference_logits_from_embeddings(const loader::Model& model,
                                                     std::span<const float> embeddings,
                                                     HiddenTrace* trace = nullptr);

/// `Precision::reference`. Takes nothing from the arena.
class ReferencePass final : public ForwardPass {
 public:
  explicit ReferencePass(std::shared_ptr<const loader::Model> model);
  void run(const PackedBatch& batch, std::span<float> logits, Arena& arena) const override;
  std::size_t arena_bytes(std::size_t tokens, std::size_t longest) const override;
  std::size_t labels() const override;

 private:
  std::shared_ptr<const loader::Model> model_;
};

}  // namespace crossbill::engine
