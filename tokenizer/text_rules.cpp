#include "tokenizer/text_rules.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/error.hpp"
#include "tokenizer/added_tokens.hpp"
#include "tokenizer/normalised_text.hpp"
#include "tokenizer/normaliser.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

ByteAction action_of(std::string_view normalised) {
  if (normalised.empty()) {
    return ByteAction::remove;
  }
  const char character = normalised.front();
  const auto flags = properties_of(static_cast<unsigned char>(character)).flags;
  if ((flags & kWhiteSpace) != 0) {
    return ByteAction::space;
  }
  if ((flags & kPunctuation) != 0) {
    return ByteAction::isolate;
  }
  // U+0000 is kept if the clean-up is off; it can't stand in `joined`, where zero means something else.
  return character == '\0' ? ByteAction::examine : ByteAction::join;
}

}  // namespace

TextRules::TextRules(const Settings& settings, const Vocabulary& vocabulary)
    : normaliser(settings), wordpiece(settings, vocabulary), added_tokens(settings.added_tokens) {
  for (std::size_t i = 0; i < added_tokens.size(); ++i) {
    add_token(i);
  }
  for (std::size_t byte = 0; byte < 0x80; ++byte) {
    const char character = static_cast<char>(byte);
    if (raw_tokens.begins_with(character)) {
      continue;
    }
    const std::string normalised = normalise(std::string_view(&character, 1), normaliser).bytes;
    actions[byte] = action_of(normalised);
    joined[byte] = actions[byte] == ByteAction::join ? normalised.front() : '\0';
  }
}

void TextRules::add_token(std::size_t index) {
  const AddedToken& token = added_tokens[index];
  const std::string content = token.normalized ? normalise(token.content, normaliser).bytes : token.content;
  if (content.empty()) {
    throw Error(ErrorCode::bad_model,
                "the added token with id " + std::to_string(token.id) +
                    (token.content.empty() ? " is empty" : " is empty once normalised"));
  }
  (token.normalized ? normalised_tokens : raw_tokens).add(content, index);
  replacement_in_tokens = replacement_in_tokens || content.find("\xEF\xBF\xBD") != std::string::npos;
}

}  // namespace crossbill::tokenizer
