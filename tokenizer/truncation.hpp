// How many tokens of each side of a pair are kept.
#pragma once

#include <cstddef>

#include "crossbill/encoding.hpp"

namespace crossbill::tokenizer {

/// Token counts of the two sides, or how many of each are kept.
struct SideCounts {
  std::size_t query = 0;
  std::size_t passage = 0;
  friend bool operator==(const SideCounts&, const SideCounts&) = default;
};

constexpr std::size_t kPairTemplateTokens = 3;    ///< [CLS] query [SEP] passage [SEP]
constexpr std::size_t kSingleTemplateTokens = 2;  ///< [CLS] text [SEP]

/// Whether the strategy has no way to make a pair fit. `budget` is max_length less the template's tokens.
bool is_too_long(SideCounts full, std::size_t budget, Truncation truncation) noexcept;

/// What is kept; `full` itself if it fits. For longest_first, with Hugging Face's choices where the budget
/// can't be halved: the longer side gets the odd token, the passage on a tie.
///
/// Counts may be capped at budget + 1, except where both are over the budget, the budget is odd and the
/// strategy is longest_first: there it matters which side is the longer one.
SideCounts kept_tokens(SideCounts full, std::size_t budget, Truncation truncation) noexcept;

}  // namespace crossbill::tokenizer
