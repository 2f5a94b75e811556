// The BERT pre-tokeniser: white space ends a word and vanishes, a punctuation character is a word of its own.
// Finished words go through WordPiece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/text_rules.hpp"
#include "tokenizer/unicode.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/wordpiece.hpp"

namespace crossbill::tokenizer {

/// Takes normalised code points and appends tokens to `Tokens`, which has size(), shorten(size) and
/// push(id, span). Spans are kept only if `kWithOffsets`.
template <class Tokens, bool kWithOffsets>
class WordSplitter {
 public:
  WordSplitter(const TextRules& rules, Tokens& tokens)
      : wordpiece_(&rules.wordpiece), joined_(rules.joined.data()), tokens_(&tokens) {
    buffer_.resize(wordpiece_->bytes_before() + kFirstCapacity + WordPiece::kBytesAfter);
    adopt_buffer();
  }

  void code_point(char32_t value, CodePointProperties properties, TokenOffset span) {
    if ((properties.flags & kWhiteSpace) != 0) {
      end_word();
    } else if ((properties.flags & kPunctuation) != 0) {
      end_word();
      append(value, span);
      end_word();
    } else {
      append(value, span);
    }
  }

  /// Appends the bytes from `at` on whose action is `join`; returns where they end. `span` is that of the
  /// first.
  const char* append_joined(const char* at, const char* end, TokenOffset span) {
    while (true) {
      char* out = word_ + bytes_;
      const char* const stop =
          static_cast<std::size_t>(end - at) < capacity_ - bytes_ ? end : at + (capacity_ - bytes_);
      const char* const first = at;
      while (at != stop) {
        const char joined = joined_[static_cast<std::uint8_t>(*at)];
        if (joined == '\0') {
          break;
        }
        *out++ = joined;
        ++at;
      }
      const auto count = static_cast<std::size_t>(at - first);
      if constexpr (kWithOffsets) {
        span = append_spans(count, span);
      }
      bytes_ += count;
      characters_ += count;
      if (bytes_ < capacity_) {
        return at;
      }
      make_room();
    }
  }

  /// An ASCII character that is a word of its own.
  void isolated_ascii(char character, TokenOffset span) {
    end_word();
    const std::uint32_t id = wordpiece_->ascii_id(character);
    tokens_->push(id == kNoId ? wordpiece_->unknown_id() : static_cast<std::int32_t>(id), span);
  }

  void end_word() {
    if (characters_ != 0) {
      tokenize_word();
      bytes_ = 0;
      characters_ = 0;
      if constexpr (kWithOffsets) {
        spans_.clear();
      }
    }
  }

 private:
  static constexpr std::size_t kFirstCapacity = 512;

  void adopt_buffer() noexcept {
    word_ = buffer_.data() + wordpiece_->bytes_before();
    capacity_ = buffer_.size() - wordpiece_->bytes_before() - WordPiece::kBytesAfter;
  }

  /// Called when the buffer is full. Of a word that is over the limit only the length matters.
  void make_room() {
    if (characters_ > wordpiece_->most_characters()) {
      bytes_ = 0;
      if constexpr (kWithOffsets) {
        spans_.clear();
      }
    } else {
      buffer_.resize(2 * buffer_.size());
      adopt_buffer();
    }
  }

  void append(char32_t value, TokenOffset span) {
    if (capacity_ - bytes_ <= 4) {
      make_room();
    }
    bytes_ += encode_code_point(value, word_ + bytes_);
    if constexpr (kWithOffsets) {
      append_spans(1, span);
    }
    ++characters_;
  }

  /// `count` code points of one each, the first at `span`; returns the span after them.
  TokenOffset append_spans(std::size_t count, TokenOffset span) {
    if (characters_ == 0) {
      word_begin_ = span.begin;
    }
    for (std::size_t i = 0; i < count; ++i) {
      spans_.push_back(span);
      word_end_ = span.end;
      span = {span.end, span.end + 1};
    }
    return span;
  }

  void tokenize_word() {
    const std::size_t before = tokens_->size();
    std::size_t character = 0;
    const bool known =
        characters_ <= wordpiece_->most_characters() &&
        wordpiece_->split(word_, bytes_, [&](std::int32_t id, std::size_t begin, std::size_t end) {
          if constexpr (kWithOffsets) {
            const std::size_t first = character;
            for (std::size_t i = begin; i < end; ++i) {
              character += (static_cast<std::uint8_t>(word_[i]) & 0xC0) != 0x80 ? 1 : 0;
            }
            tokens_->push(id, {spans_[first].begin, spans_[character - 1].end});
          } else {
            tokens_->push(id, {});
          }
        });
    if (!known) {
      tokens_->shorten(before);
      tokens_->push(wordpiece_->unknown_id(), {word_begin_, word_end_});
    }
  }

  const WordPiece* wordpiece_;
  const char* joined_;
  Tokens* tokens_;
  std::vector<char> buffer_;
  char* word_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  std::size_t characters_ = 0;
  std::vector<TokenOffset> spans_;  ///< [characters] of the word, where spans are kept
  std::uint32_t word_begin_ = 0;
  std::uint32_t word_end_ = 0;
};

}  // namespace crossbill::tokenizer
