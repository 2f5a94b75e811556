#include "tokenizer/text_scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/added_tokens.hpp"
#include "tokenizer/normalised_text.hpp"
#include "tokenizer/normaliser.hpp"
#include "tokenizer/text_rules.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/word_splitter.hpp"

namespace crossbill::tokenizer {
namespace {

// The three ways to keep tokens.

struct IdTokens {
  std::vector<std::int32_t>* ids;
  std::size_t first;

  std::size_t size() const noexcept { return ids->size() - first; }
  void shorten(std::size_t size) { ids->resize(first + size); }
  void push(std::int32_t id, TokenOffset /*span*/) { ids->push_back(id); }
};

struct CountedTokens {
  std::size_t count = 0;

  std::size_t size() const noexcept { return count; }
  void shorten(std::size_t size) noexcept { count = size; }
  void push(std::int32_t /*id*/, TokenOffset /*span*/) noexcept { ++count; }
};

struct ExplainedTokens {
  std::vector<ExplainedToken> tokens;

  std::size_t size() const noexcept { return tokens.size(); }
  void shorten(std::size_t size) { tokens.resize(size); }
  void push(std::int32_t id, TokenOffset span) { tokens.push_back({id, span, {}}); }
};

template <class Tokens, bool kWithOffsets>
class Scanner {
 public:
  Scanner(std::string_view text, const TextRules& rules, bool special_tokens_as_text, std::size_t limit,
          Tokens& tokens)
      : text_(text),
        rules_(rules),
        special_tokens_as_text_(special_tokens_as_text),
        limit_(limit),
        tokens_(tokens),
        words_(rules, tokens),
        normaliser_(rules.normaliser, words_) {}

  void run() {
    if (rules_.normalised_tokens.empty()) {
      scan_directly();
    } else {
      scan_by_pieces();
    }
  }

 private:
  using Words = WordSplitter<Tokens, kWithOffsets>;

  bool full() const noexcept { return tokens_.size() >= limit_; }
  TokenOffset here() const noexcept { return {index_, index_ + 1}; }

  /// The usual way: straight from raw bytes to words. ASCII needs no decoding and no properties.
  void scan_directly() {
    AddedTokenFinder finder(rules_.raw_tokens, rules_.added_tokens, text_, special_tokens_as_text_);
    while (position_ < text_.size() && !full()) {
      const char byte = text_[position_];
      switch (rules_.actions[static_cast<std::uint8_t>(byte)]) {
        case ByteAction::join:
          join();
          break;
        case ByteAction::space:
          normaliser_.flush();
          words_.end_word();
          advance(1);
          break;
        case ByteAction::isolate:
          normaliser_.flush();
          words_.isolated_ascii(byte, here());
          advance(1);
          break;
        case ByteAction::remove:
          advance(1);
          break;
        case ByteAction::examine:
          examine(finder);
          break;
      }
    }
    end_piece();
  }

  void advance(std::size_t bytes) noexcept {
    position_ += bytes;
    ++index_;
  }

  void join() {
    normaliser_.flush();
    const char* const begin = text_.data() + position_;
    const char* const end = words_.append_joined(begin, text_.data() + text_.size(), here());
    position_ += static_cast<std::size_t>(end - begin);
    index_ += static_cast<std::uint32_t>(end - begin);
  }

  void examine(AddedTokenFinder& finder) {
    if (finder.may_begin(position_)) {
      if (const auto match = finder.match_at(position_)) {
        end_piece();
        // White space that the token swallows would vanish anyway, so it only shows in the token's span.
        const auto [begin, end] = stripped(text_, *match);
        push_added(*match, begin, end);
        return;
      }
    }
    const DecodedCodePoint decoded = decode_code_point(text_, position_);
    normaliser_.feed(decoded.value, here());
    advance(decoded.bytes);
  }

  void end_piece() {
    normaliser_.end();
    words_.end_word();
  }

  /// Appends an added token that stands for [begin, end) of the text; reading goes on right after the token
  /// itself.
  void push_added(const AddedTokenMatch& match, std::size_t begin, std::size_t end) {
    TokenOffset span;
    if constexpr (kWithOffsets) {
      span.begin =
          begin < match.begin ? index_ - points(begin, match.begin) : index_ + points(match.begin, begin);
      span.end = index_ + points(match.begin, end);
      index_ += points(match.begin, match.end);
    }
    position_ = match.end;
    push(rules_.added_tokens[match.token].id, span, text_, begin, end);
  }

  std::uint32_t points(std::size_t begin, std::size_t end) const {
    return static_cast<std::uint32_t>(count_code_points(text_.substr(begin, end - begin)));
  }

  /// The bytes of `text` that a match stands for, swallowed white space included. What the token before has
  /// swallowed can't be swallowed again; that may leave nothing.
  std::pair<std::size_t, std::size_t> stripped(std::string_view text, const AddedTokenMatch& match) {
    const AddedToken& token = rules_.added_tokens[match.token];
    std::size_t begin = match.begin;
    if (token.lstrip) {
      begin =
          std::max(skip_white_space_back(text, match.begin, std::min(free_from_, match.begin)), free_from_);
    }
    const std::size_t end = token.rstrip ? skip_white_space(text, match.end) : match.end;
    free_from_ = end;
    return {begin, std::max(begin, end)};
  }

  void push(std::int32_t id, TokenOffset span, std::string_view text, std::size_t begin, std::size_t end) {
    if (begin == end) {
      return;
    }
    tokens_.push(id, span);
    if constexpr (kWithOffsets) {
      tokens_.tokens.back().text = text.substr(begin, end - begin);
    }
  }

  /// The way with added tokens in normalised text: each piece between raw ones is normalised as a whole.
  void scan_by_pieces() {
    AddedTokenFinder finder(rules_.raw_tokens, rules_.added_tokens, text_, special_tokens_as_text_);
    std::size_t piece = 0;
    std::uint32_t piece_index = 0;
    while (position_ < text_.size() && !full()) {
      if (finder.may_begin(position_)) {
        if (const auto match = finder.match_at(position_)) {
          const auto [begin, end] = stripped(text_, *match);
          if (begin > piece) {
            scan_normalised(text_.substr(piece, begin - piece), piece_index);
          }
          if (full()) {
            return;
          }
          push_added(*match, begin, end);
          piece = end;
          piece_index = index_ + (kWithOffsets ? points(position_, std::max(position_, end)) : 0);
          continue;
        }
      }
      advance(decode_code_point(text_, position_).bytes);
    }
    if (!full() && piece < text_.size()) {
      scan_normalised(text_.substr(piece), piece_index);
    }
  }

  void scan_normalised(std::string_view piece, std::uint32_t piece_index) {
    const NormalisedText normalised = normalise(piece, rules_.normaliser, piece_index);
    const std::string_view text = normalised.bytes;
    AddedTokenFinder finder(rules_.normalised_tokens, rules_.added_tokens, text, special_tokens_as_text_);
    const std::size_t free_from_in_text = std::exchange(free_from_, 0);
    std::size_t at = 0;
    std::size_t index = 0;
    while (at < text.size() && !full()) {
      if (finder.may_begin(at)) {
        if (const auto match = finder.match_at(at)) {
          words_.end_word();
          push_added_normalised(normalised, *match, index);
          index += count_code_points(text.substr(at, match->end - at));
          at = match->end;
          continue;
        }
      }
      const DecodedCodePoint decoded = decode_code_point(text, at);
      words_.code_point(decoded.value, properties_of(decoded.value), normalised.spans[index]);
      at += decoded.bytes;
      ++index;
    }
    words_.end_word();
    free_from_ = free_from_in_text;
  }

  /// `index` is the code point of the normalised text that the match begins with.
  void push_added_normalised(const NormalisedText& normalised, const AddedTokenMatch& match,
                             std::size_t index) {
    const std::string_view text = normalised.bytes;
    const auto [begin, end] = stripped(text, match);
    TokenOffset span;
    if (kWithOffsets && begin < end) {
      const std::size_t first =
          begin < match.begin ? index - count_code_points(text.substr(begin, match.begin - begin))
                              : index + count_code_points(text.substr(match.begin, begin - match.begin));
      const std::size_t count = count_code_points(text.substr(begin, end - begin));
      span = {normalised.spans[first].begin, normalised.spans[first + count - 1].end};
    }
    push(rules_.added_tokens[match.token].id, span, text, begin, end);
  }

  std::string_view text_;
  const TextRules& rules_;
  bool special_tokens_as_text_;
  std::size_t limit_;
  Tokens& tokens_;
  Words words_;
  Normaliser<Words, kWithOffsets> normaliser_;
  std::size_t position_ = 0;   ///< byte
  std::uint32_t index_ = 0;    ///< code point at `position_`; kept up only with offsets
  std::size_t free_from_ = 0;  ///< byte up to which an added token has taken the text
};

/// Where an added token holds U+FFFD, it is found in invalid bytes too, so they must be replaced before.
template <class Tokens, bool kWithOffsets>
void scan(std::string_view text, const TextRules& rules, bool special_tokens_as_text, std::size_t limit,
          Tokens& tokens) {
  std::string replaced;
  if (rules.replacement_in_tokens) {
    replaced = replace_invalid(text);
    text = replaced;
  }
  Scanner<Tokens, kWithOffsets>(text, rules, special_tokens_as_text, limit, tokens).run();
}

}  // namespace

std::size_t scan_ids(std::string_view text, const TextRules& rules, bool special_tokens_as_text,
                     std::size_t limit, std::vector<std::int32_t>& ids) {
  IdTokens tokens{&ids, ids.size()};
  scan<IdTokens, false>(text, rules, special_tokens_as_text, limit, tokens);
  return tokens.size();
}

std::vector<ExplainedToken> scan_explained(std::string_view text, const TextRules& rules,
                                           bool special_tokens_as_text, std::size_t limit) {
  ExplainedTokens tokens;
  scan<ExplainedTokens, true>(text, rules, special_tokens_as_text, limit, tokens);
  return std::move(tokens.tokens);
}

std::size_t scan_count(std::string_view text, const TextRules& rules, bool special_tokens_as_text,
                       std::size_t limit) {
  CountedTokens tokens;
  scan<CountedTokens, false>(text, rules, special_tokens_as_text, limit, tokens);
  return tokens.size();
}

}  // namespace crossbill::tokenizer
