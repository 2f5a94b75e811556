// The bytes of a Vocabulary and how a word is found in them; docs/vocabulary_block.md draws the layout.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace crossbill::tokenizer {

static_assert(std::endian::native == std::endian::little, "the block is read in place as little-endian");

constexpr std::size_t kVocabularyHeaderBytes = 64;
constexpr std::size_t kVocabularyPaddingBytes =
    8;  ///< zeros after the text, so that eight bytes can be read anywhere
constexpr std::uint32_t kLongestProbe = 128;  ///< slots from its home that a token may lie away
constexpr std::uint32_t kNoId = 0xFFFFFFFF;   ///< the id of an empty slot
constexpr std::uint32_t kGap = 0x80000000;    ///< marks an id that no token has
constexpr std::uint32_t kMostIds = 1U << 24;  ///< ids of a vocabulary stay below this
constexpr std::uint32_t kMostTokenBytes = 1024;

/// One entry of the hash table. The first eight bytes of the token lie in it, so that a short word costs one
/// cache line.
struct VocabularySlot {
  std::uint64_t head;  ///< first eight bytes of the token as a little-endian number, zeros after its end
  std::uint32_t length;
  std::uint32_t id;
};
static_assert(sizeof(VocabularySlot) == 16);

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// The first min(length, 8) bytes as a little-endian number; eight bytes must be readable.
inline std::uint64_t head_of(const char* bytes, std::size_t length) noexcept {
  std::uint64_t head;
  std::memcpy(&head, bytes, sizeof(head));
  return length >= 8 ? head : head & ((std::uint64_t{1} << (8 * length)) - 1);
}

// The hash takes eight bytes a step, the last step what is left, then the length. The hash of a prefix thus
// follows in constant time from the state after its whole steps.
inline std::uint64_t hash_step(std::uint64_t state, std::uint64_t eight_bytes) noexcept {
  const std::uint64_t product = (state ^ eight_bytes) * 0x9FB21C651E98DF25;
  return product ^ (product >> 32);
}
inline std::uint64_t hash_end(std::uint64_t state, std::size_t length) noexcept {
  return (state ^ length) * 0xD6E8FEB86659FD93;
}
/// `length` bytes; as in head_of, up to seven more must be readable.
inline std::uint64_t hash_of(std::uint64_t seed, const char* bytes, std::size_t length) noexcept {
  std::uint64_t state = seed;
  for (std::size_t at = 0; at < length; at += 8) {
    state = hash_step(state, head_of(bytes + at, length - at));
  }
  return hash_end(state, length);
}

/// The parts of a sound block. Pointers need no alignment.
struct VocabularyView {
  const std::byte* slots = nullptr;    ///< [slot_count] VocabularySlot
  const std::byte* offsets = nullptr;  ///< [ids + 1] u32: where each token's bytes begin; kGap may be set
  const char* text = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t ids = 0;     ///< largest id + 1
  std::uint32_t tokens = 0;  ///< ids that have a token
  std::uint32_t slot_mask = 0;
  std::uint32_t slot_shift = 63;    ///< the home slot of a token is its hash >> slot_shift
  std::uint32_t longest_token = 0;  ///< bytes

  std::uint32_t offset(std::uint32_t id) const noexcept {
    return load<std::uint32_t>(offsets + 4 * std::size_t{id});
  }
  bool has(std::uint32_t id) const noexcept { return id < ids && (offset(id) & kGap) == 0; }
  std::string_view token(std::uint32_t id) const noexcept {
    const std::uint32_t begin = offset(id) & ~kGap;
    return {text + begin, (offset(id + 1) & ~kGap) - begin};
  }

  /// The id of the token with these bytes and this hash, else kNoId. Eight bytes must be readable at `bytes`.
  std::uint32_t find(std::uint64_t hash, const char* bytes, std::size_t length) const noexcept {
    const std::uint64_t head = head_of(bytes, length);
    auto slot = static_cast<std::uint32_t>(hash >> slot_shift);
    for (std::uint32_t probe = 0; probe <= kLongestProbe; ++probe, slot = (slot + 1) & slot_mask) {
      const auto entry = load<VocabularySlot>(slots + sizeof(VocabularySlot) * std::size_t{slot});
      if (entry.head == head && entry.length == length && entry.id != kNoId &&
          (length <= 8 || token(entry.id).substr(8) == std::string_view(bytes + 8, length - 8))) {
        return entry.id;
      }
      if (entry.id == kNoId) {
        break;
      }
    }
    return kNoId;
  }
};

/// Reads a block that check_vocabulary_block has passed (or an empty one: no tokens).
VocabularyView read_vocabulary_block(std::span<const std::byte> block) noexcept;

/// Error bad_model with the reason if a block is not sound in every byte. One pass, no allocation.
void check_vocabulary_block(std::span<const std::byte> block);

}  // namespace crossbill::tokenizer
