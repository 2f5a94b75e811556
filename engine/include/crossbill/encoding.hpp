// Plain types that describe tokenised text. They know nobody, so every room may include them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace crossbill {

/// What to do with a pair that has more than `max_length` tokens.
enum class Truncation {
  longest_first,  ///< shorten the longer side until the pair fits, as Hugging Face does (the default)
  only_query,     ///< shorten the query alone; Error input_too_long if that can't be enough
  only_passage,   ///< shorten the passage alone; Error input_too_long if that can't be enough
  refuse,         ///< Error input_too_long that names both counts
};

/// From which end a shortened side loses its tokens.
enum class TruncationSide { right, left };

/// How one call wants its text encoded. Options are call arguments: a tokenizer holds no state.
struct EncodeOptions {
  std::size_t max_length = 512;  ///< tokens a pair may have, [CLS] and both [SEP] included; at least 3
  Truncation truncation = Truncation::longest_first;
  TruncationSide side = TruncationSide::right;
  /// Reads "[SEP]", "[MASK]", … in a text as ordinary characters, so that text can't forge control tokens.
  /// false is what Hugging Face does by default.
  bool special_tokens_as_text = false;
};

/// One (query, passage) pair as the model sees it: [CLS] query [SEP] passage [SEP], without padding.
struct EncodedPair {
  std::vector<std::int32_t> ids;       ///< [tokens] vocabulary ids
  std::vector<std::uint8_t> type_ids;  ///< [tokens] 0 for [CLS] query [SEP], 1 for passage [SEP]
  bool truncated = false;              ///< whether tokens were left out to fit max_length
};

/// A span of the original text in Unicode code points (not bytes), as Hugging Face counts: [begin, end).
struct TokenOffset {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const TokenOffset&, const TokenOffset&) = default;
};

/// Everything that can be said of a tokenised text or pair; arrays run in parallel.
struct Tokenization {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> type_ids;
  std::vector<std::string> tokens;   ///< the vocabulary's spelling, for example "##ing"
  std::vector<TokenOffset> offsets;  ///< [0,0] for the template's own [CLS] and [SEP]
  bool truncated = false;
};

}  // namespace crossbill
