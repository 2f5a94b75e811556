// From logits to scores.
#pragma once

#include <span>

#include "crossbill/crossbill.hpp"
#include "kernels/kernel_set.hpp"
#include "loader/config.hpp"

namespace crossbill::engine {

/// One value per logit, each by itself: a score never depends on other passages or labels, so a threshold
/// keeps its meaning. There is no softmax over labels.
class ScoreFunction {
 public:
  ScoreFunction(Activation asked, loader::ScoreActivation of_model, const kernels::KernelSet& kernels);
  /// "none" or "sigmoid"
  const char* name() const { return sigmoid_ ? "sigmoid" : "none"; }
  void apply(std::span<float> logits) const;

 private:
  const kernels::KernelSet* kernels_;  // whose sigmoid gives the same bits as all others'
  bool sigmoid_;
};

}  // namespace crossbill::engine
