// From a text to its tokens: added tokens, normaliser, words, WordPiece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/text_rules.hpp"

namespace crossbill::tokenizer {

struct ExplainedToken {
  std::int32_t id = 0;
  TokenOffset offset;
  std::string text;  ///< what an added token was found as; empty for all others
};

// All three stop once they have `limit` tokens or more, or the text ends; what is left is not read. (Where an
// added token is to be found in normalised text, the text up to the next raw one is normalised first.)

/// Appends to `ids`; returns how many.
std::size_t scan_ids(std::string_view text, const TextRules& rules, bool special_tokens_as_text,
                     std::size_t limit, std::vector<std::int32_t>& ids);
std::vector<ExplainedToken> scan_explained(std::string_view text, const TextRules& rules,
                                           bool special_tokens_as_text, std::size_t limit);
/// How many tokens the text has, or some number that is not below `limit`. Needs no memory.
std::size_t scan_count(std::string_view text, const TextRules& rules, bool special_tokens_as_text,
                       std::size_t limit);

}  // namespace crossbill::tokenizer
