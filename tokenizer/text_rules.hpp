// All that reading a text needs, made ready once from the settings and the vocabulary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/added_tokens.hpp"
#include "tokenizer/normaliser.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/wordpiece.hpp"

namespace crossbill::tokenizer {

/// What a byte of the raw text means, where that can be told from the byte alone.
enum class ByteAction : std::uint8_t {
  examine,  ///< not ASCII, or an added token may begin here
  join,     ///< belongs to a word, as `joined` spells it
  space,    ///< ends a word
  isolate,  ///< is a word of its own
  remove,   ///< leaves no trace
};

struct TextRules {
  /// Error bad_model if an added token is empty, by itself or once it is normalised.
  TextRules(const Settings& settings, const Vocabulary& vocabulary);

  NormaliserRules normaliser;
  WordPiece wordpiece;
  std::vector<AddedToken> added_tokens;
  AddedTokenTrie raw_tokens;           ///< looked for in the text as it is
  AddedTokenTrie normalised_tokens;    ///< looked for after normalisation
  bool replacement_in_tokens = false;  ///< an added token holds U+FFFD, which invalid bytes are read as
  std::array<ByteAction, 256> actions{};
  std::array<char, 256> joined{};  ///< the normalised character where the action is `join`, else 0

 private:
  void add_token(std::size_t index);
};

}  // namespace crossbill::tokenizer
