// The first 64 bytes of a vocabulary block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tokenizer/vocabulary_block.hpp"

namespace crossbill::tokenizer {

constexpr char kVocabularyMagic[8] = {'C', 'B', 'V', 'O', 'C', 'A', 'B', '1'};

struct VocabularyHeader {
  char magic[8] = {};
  std::uint64_t block_bytes = 0;  ///< of the whole block, header and padding included
  std::uint64_t seed = 0;         ///< state that every hash begins with
  std::uint32_t ids = 0;          ///< largest id + 1
  std::uint32_t tokens = 0;       ///< ids that have a token
  std::uint32_t slots = 0;        ///< a power of two, at least twice `tokens`
  std::uint32_t longest_token = 0;
  std::uint32_t text_bytes = 0;
  std::uint8_t reserved[20] = {};
};
static_assert(sizeof(VocabularyHeader) == kVocabularyHeaderBytes);

/// What the header's counts make of the block's size.
inline std::uint64_t vocabulary_block_bytes(const VocabularyHeader& header) noexcept {
  return kVocabularyHeaderBytes + sizeof(VocabularySlot) * std::uint64_t{header.slots} +
         4 * (std::uint64_t{header.ids} + 1) + header.text_bytes + kVocabularyPaddingBytes;
}

}  // namespace crossbill::tokenizer
