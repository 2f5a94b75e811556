// The order of a ranking.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace crossbill::engine {

/// Indices of the `count` best logits (all of them if there are fewer), best first: larger logits first,
/// equal ones by index, NaN last. That is a strict weak order for every input.
std::vector<std::size_t> best_first(std::span<const float> logits, std::size_t count);

}  // namespace crossbill::engine
