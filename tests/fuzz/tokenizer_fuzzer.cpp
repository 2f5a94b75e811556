// Any bytes as texts, under any settings: the ways to encode agree with each other, and nothing leaves its
// bounds.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "crossbill/error.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary.hpp"

namespace {

using crossbill::EncodeOptions;
using crossbill::Tokenization;
using crossbill::tokenizer::AddedToken;
using crossbill::tokenizer::Settings;
using crossbill::tokenizer::Tokenizer;
using crossbill::tokenizer::Vocabulary;

void check(bool condition) {
  if (!condition) {
    std::abort();
  }
}

Vocabulary small_vocabulary() {
  std::vector<std::pair<std::string, std::int32_t>> tokens;
  for (const char* token :
       {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a",   "b",      "c", "ab",  "abc",    "##a",     "##b",
        "##c",   "##bc",  "[",     "]",     "sep", "\u7684", "e", "##e", "\u1100", "##\u1161"}) {
    tokens.emplace_back(token, static_cast<std::int32_t>(tokens.size()));
  }
  return Vocabulary::build(tokens);
}

/// Two bytes choose the normaliser's switches and the flags of the added tokens.
Tokenizer make_tokenizer(std::uint8_t first, std::uint8_t second) {
  static const Vocabulary vocabulary = small_vocabulary();
  Settings settings;
  settings.clean_text = (first & 1) != 0;
  settings.handle_chinese_chars = (first & 2) != 0;
  settings.lowercase = (first & 4) != 0;
  if ((first & 8) != 0) {
    settings.strip_accents = (first & 16) != 0;
  }
  settings.max_input_chars_per_word = (first & 32) != 0 ? 100 : 4;
  settings.cls_id = 2;
  settings.sep_id = 3;
  std::int32_t id = 21;
  for (const char* content : {"[SEP]", " x", "\uFFFD!", "a b"}) {
    AddedToken token;
    token.content = content;
    token.id = token.content == "[SEP]" ? 3 : id++;
    token.special = token.id == 3;
    token.single_word = (second & 1) != 0;
    token.lstrip = (second & 2) != 0;
    token.rstrip = (second & 4) != 0;
    token.normalized = token.content != "\uFFFD!" && (second & 8) != 0;
    second = static_cast<std::uint8_t>(second >> 1 | second << 7);
    settings.added_tokens.push_back(token);
  }
  return {settings, vocabulary};
}

void check_offsets(const Tokenization& got, std::string_view query, std::string_view passage) {
  const auto most = std::max(crossbill::tokenizer::count_code_points(query),
                             crossbill::tokenizer::count_code_points(passage));
  check(got.tokens.size() == got.ids.size() && got.offsets.size() == got.ids.size());
  for (const auto& offset : got.offsets) {
    check(offset.begin <= offset.end && offset.end <= most);
  }
}

void check_pair(const Tokenizer& tokenizer, std::string_view query, std::string_view passage,
                EncodeOptions options) {
  const auto pair = tokenizer.encode(query, passage, options);
  check(pair.ids.size() <= options.max_length && pair.ids.size() == pair.type_ids.size());
  const Tokenization explained = tokenizer.explain(query, passage, options);
  check(explained.ids == pair.ids && explained.type_ids == pair.type_ids &&
        explained.truncated == pair.truncated);
  check_offsets(explained, query, passage);
  // Replacing what is invalid beforehand changes nothing.
  const std::string valid_query = crossbill::tokenizer::replace_invalid(query);
  const std::string valid_passage = crossbill::tokenizer::replace_invalid(passage);
  const Tokenization replaced = tokenizer.explain(valid_query, valid_passage, options);
  check(replaced.ids == explained.ids && replaced.offsets == explained.offsets);
  // All tokens, of which the cut pair must keep the first or the last of each side.
  EncodeOptions whole = options;
  whole.max_length = std::size_t{1} << 40;
  const auto all = tokenizer.tokenize_side(passage, whole);
  check(all.complete);
  const auto kept = static_cast<std::size_t>(std::count(pair.type_ids.begin(), pair.type_ids.end(), 1)) - 1;
  check(kept <= all.ids.size());
  const auto from = options.side == crossbill::TruncationSide::right ? 0 : all.ids.size() - kept;
  check(std::equal(pair.ids.end() - 1 - static_cast<std::ptrdiff_t>(kept), pair.ids.end() - 1,
                   all.ids.begin() + static_cast<std::ptrdiff_t>(from)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) {
    return 0;
  }
  const Tokenizer tokenizer = make_tokenizer(data[0], data[1]);
  EncodeOptions options;
  options.max_length = 3 + data[2] % 32;
  options.truncation = static_cast<crossbill::Truncation>(data[3] % 4);
  options.side = (data[3] & 4) != 0 ? crossbill::TruncationSide::left : crossbill::TruncationSide::right;
  options.special_tokens_as_text = (data[3] & 8) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 5), size - 5);
  const std::size_t cut = std::min<std::size_t>(data[4], text.size());
  try {
    check_pair(tokenizer, text.substr(0, cut), text.substr(cut), options);
  } catch (const crossbill::Error& error) {
    check(error.code() == crossbill::ErrorCode::input_too_long);
  }
  return 0;
}
