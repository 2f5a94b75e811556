#include "tokenizer/wordpiece.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "crossbill/error.hpp"
#include "tokenizer/message.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/vocabulary_block.hpp"

namespace crossbill::tokenizer {

WordPiece::WordPiece(const Settings& settings, const Vocabulary& vocabulary)
    : view_(read_vocabulary_block(vocabulary.block())),
      prefix_(settings.continuing_subword_prefix),
      unknown_token_(settings.unk_token),
      most_characters_(settings.max_input_chars_per_word) {
  if (const auto id = vocabulary.find(unknown_token_)) {
    unknown_id_ = static_cast<std::uint32_t>(*id);
  }
  for (std::size_t i = 0; i < ascii_ids_.size(); ++i) {
    const char character = static_cast<char>(i);
    const auto id = vocabulary.find(std::string_view(&character, 1));
    ascii_ids_[i] = id && most_characters_ > 0 ? static_cast<std::uint32_t>(*id) : kNoId;
  }
}

void WordPiece::refuse_unknown() const {
  throw Error(ErrorCode::bad_model,
              "the text has a word that the vocabulary can't spell, and the unknown token " +
                  in_quotes(unknown_token_) + " is not in the vocabulary");
}

}  // namespace crossbill::tokenizer
