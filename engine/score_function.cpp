#include "engine/score_function.hpp"

namespace crossbill::engine {

ScoreFunction::ScoreFunction(Activation asked, loader::ScoreActivation of_model,
                             const kernels::KernelSet& kernels)
    : kernels_(&kernels),
      sigmoid_(asked == Activation::sigmoid ||
               (asked == Activation::model && of_model == loader::ScoreActivation::sigmoid)) {}

void ScoreFunction::apply(std::span<float> logits) const {
  if (sigmoid_) kernels_->sigmoid_f32(logits.data(), logits.size());
}

}  // namespace crossbill::engine
