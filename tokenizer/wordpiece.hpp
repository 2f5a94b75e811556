// WordPiece: a word becomes the longest vocabulary entry it begins with, then the longest "##…" entry that
// what is left begins with, and so on. A word that can't be covered is the unknown token as a whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/vocabulary_block.hpp"

namespace crossbill::tokenizer {

class WordPiece {
 public:
  /// Reads `vocabulary` in place.
  WordPiece(const Settings& settings, const Vocabulary& vocabulary);

  /// Bytes before a word that `split` may overwrite, so that it can put the continuation prefix there.
  std::size_t bytes_before() const noexcept { return prefix_.size(); }
  /// Bytes that must be readable after a word.
  static constexpr std::size_t kBytesAfter = kVocabularyPaddingBytes;
  /// Code points a word may have; a longer one is the unknown token without a look.
  std::size_t most_characters() const noexcept { return most_characters_; }

  /// Calls emit(id, begin, end) for each piece, with its bytes in the word, in order. False if the word is
  /// unknown; pieces may have been emitted before that shows. The word is valid UTF-8; it is overwritten.
  template <class Emit>
  bool split(char* word, std::size_t bytes, Emit&& emit) const;

  /// Id of a word of one ASCII character, or kNoId.
  std::uint32_t ascii_id(char character) const noexcept {
    return ascii_ids_[static_cast<std::uint8_t>(character)];
  }
  /// The unknown token; Error bad_model if the vocabulary has none.
  std::int32_t unknown_id() const {
    if (unknown_id_ == kNoId) {
      refuse_unknown();
    }
    return static_cast<std::int32_t>(unknown_id_);
  }

 private:
  [[noreturn]] void refuse_unknown() const;

  VocabularyView view_;
  std::string prefix_;
  std::string unknown_token_;
  std::uint32_t unknown_id_ = kNoId;
  std::size_t most_characters_ = 0;
  std::array<std::uint32_t, 128> ascii_ids_{};
};

template <class Emit>
bool WordPiece::split(char* word, std::size_t bytes, Emit&& emit) const {
  std::array<std::uint64_t, kMostTokenBytes / 8 + 1> states;  // after each whole step of the hash
  states[0] = view_.seed;
  std::size_t begin = 0;
  std::size_t prefix = 0;
  while (begin < bytes) {
    char* const from = word + begin - prefix;
    std::memcpy(from, prefix_.data(), prefix);
    const std::size_t left = bytes - begin + prefix;
    const std::size_t most = std::min<std::size_t>(left, view_.longest_token);
    for (std::size_t step = 0; 8 * (step + 1) <= most; ++step) {
      states[step + 1] = hash_step(states[step], head_of(from + 8 * step, 8));
    }
    std::uint32_t id = kNoId;
    std::size_t end = most;
    for (; end > prefix; --end) {
      if (end < left && (static_cast<std::uint8_t>(from[end]) & 0xC0) == 0x80) {
        continue;  // inside a character
      }
      std::uint64_t hash = states[end / 8];
      if (end % 8 != 0) {
        hash = hash_step(hash, head_of(from + end / 8 * 8, end % 8));
      }
      id = view_.find(hash_end(hash, end), from, end);
      if (id != kNoId) {
        break;
      }
    }
    if (id == kNoId) {
      return false;
    }
    const std::size_t next = begin + end - prefix;
    emit(static_cast<std::int32_t>(id), begin, next);
    begin = next;
    prefix = prefix_.size();
  }
  return true;
}

}  // namespace crossbill::tokenizer
