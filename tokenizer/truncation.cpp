#include "tokenizer/truncation.hpp"

#include <algorithm>
#include <cstddef>

#include "crossbill/encoding.hpp"

namespace crossbill::tokenizer {
namespace {

SideCounts longest_first(SideCounts full, std::size_t budget) noexcept {
  const std::size_t shorter = std::min(full.query, full.passage);
  std::size_t shorter_kept = shorter;
  std::size_t longer_kept = shorter > budget ? shorter : std::max(shorter, budget - shorter);
  if (shorter_kept + longer_kept > budget) {
    shorter_kept = budget / 2;
    longer_kept = budget - shorter_kept;
  }
  return full.query > full.passage ? SideCounts{longer_kept, shorter_kept}
                                   : SideCounts{shorter_kept, longer_kept};
}

}  // namespace

bool is_too_long(SideCounts full, std::size_t budget, Truncation truncation) noexcept {
  const bool fits = full.query <= budget && full.passage <= budget - full.query;
  if (fits || truncation == Truncation::longest_first) {
    return false;
  }
  if (truncation == Truncation::refuse) {
    return true;
  }
  // With no budget at all both sides are emptied, as in the Hugging Face library; else the side that may be
  // cut keeps at least one token.
  const std::size_t other = truncation == Truncation::only_query ? full.passage : full.query;
  const std::size_t cut = truncation == Truncation::only_query ? full.query : full.passage;
  return budget > 0 && (other >= budget || cut == 0);
}

SideCounts kept_tokens(SideCounts full, std::size_t budget, Truncation truncation) noexcept {
  if (full.query <= budget && full.passage <= budget - full.query) {
    return full;
  }
  if (budget == 0) {
    return {0, 0};
  }
  switch (truncation) {
    case Truncation::only_query:
      return {budget - full.passage, full.passage};
    case Truncation::only_passage:
      return {full.query, budget - full.query};
    case Truncation::longest_first:
    case Truncation::refuse:
      break;
  }
  return longest_first(full, budget);
}

}  // namespace crossbill::tokenizer
