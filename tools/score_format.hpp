// One pair's score as a line of output.
#pragma once

#include <string>
#include <vector>

#include "crossbill/crossbill.hpp"

namespace crossbill::tools {

/// The score in the shortest form that reads back to the same bits; of a model with several labels all
/// scores, separated by tabs.
std::string score_as_text(const Score& score);

/// {"score", "logit", "tokens", "truncated"}; with several labels {"scores", "logits", "labels", "tokens",
/// "truncated"}, arrays in the model's order. A score that is not finite is null and adds "not_finite": true.
std::string score_as_json(const Score& score, const std::vector<std::string>& labels);

}  // namespace crossbill::tools
