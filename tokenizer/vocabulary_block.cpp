#include "tokenizer/vocabulary_block.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "crossbill/error.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary_header.hpp"

namespace crossbill::tokenizer {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::bad_model, "vocabulary block: " + reason);
}

/// The header against itself and against the size of the block.
void check_header(const VocabularyHeader& header, std::size_t block_bytes) {
  if (std::memcmp(header.magic, kVocabularyMagic, sizeof(header.magic)) != 0) {
    refuse("it does not begin with \"CBVOCAB1\"");
  }
  if (header.block_bytes != block_bytes) {
    refuse("it says it has " + std::to_string(header.block_bytes) + " bytes, but there are " +
           std::to_string(block_bytes));
  }
  if (header.ids > kMostIds || header.tokens > header.ids) {
    refuse("it has " + std::to_string(header.tokens) + " tokens in " + std::to_string(header.ids) + " ids");
  }
  if (!std::has_single_bit(header.slots) || header.slots < 2 || header.slots / 2 < header.tokens) {
    refuse(std::to_string(header.slots) + " slots are no power of two, or too few for " +
           std::to_string(header.tokens) + " tokens");
  }
  if (header.longest_token > kMostTokenBytes) {
    refuse("a longest token of " + std::to_string(header.longest_token) + " bytes is over " +
           std::to_string(kMostTokenBytes));
  }
  for (const std::uint8_t byte : header.reserved) {
    if (byte != 0) {
      refuse("a reserved byte of the header is not zero");
    }
  }
  if (vocabulary_block_bytes(header) != block_bytes) {
    refuse("its sections do not fill its " + std::to_string(block_bytes) + " bytes");
  }
}

/// Offsets rise from 0 to the end of the text; gaps are empty; tokens are UTF-8; the header's counts are
/// true.
void check_tokens(const VocabularyView& view, const VocabularyHeader& header) {
  std::uint32_t tokens = 0;
  std::uint32_t longest = 0;
  if ((view.offset(0) & ~kGap) != 0) {
    refuse("the first token does not begin at byte 0");
  }
  for (std::uint32_t id = 0; id < view.ids; ++id) {
    const std::uint32_t begin = view.offset(id) & ~kGap;
    const std::uint32_t end = view.offset(id + 1) & ~kGap;
    if (end < begin || end > header.text_bytes || (!view.has(id) && end != begin)) {
      refuse("the bytes of token " + std::to_string(id) + " do not follow those of the one before");
    }
    if (begin < end && (static_cast<std::uint8_t>(view.text[begin]) & 0xC0) == 0x80) {
      refuse("token " + std::to_string(id) + " begins inside a character");
    }
    longest = end - begin > longest ? end - begin : longest;
    tokens += view.has(id) ? 1 : 0;
  }
  if (view.offset(view.ids) != header.text_bytes || tokens != header.tokens ||
      longest != header.longest_token || (view.ids > 0 && !view.has(view.ids - 1))) {
    refuse("its counts do not match its tokens");
  }
  if (!is_valid_utf8({view.text, header.text_bytes})) {
    refuse("its text is not valid UTF-8");
  }
  for (std::size_t i = 0; i < kVocabularyPaddingBytes; ++i) {
    if (view.text[header.text_bytes + i] != 0) {
      refuse("the padding after the text is not zero");
    }
  }
}

/// Every token is found where its hash says, and no slot is left over.
void check_slots(const VocabularyView& view) {
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i <= view.slot_mask; ++i) {
    const auto slot = load<VocabularySlot>(view.slots + sizeof(VocabularySlot) * std::size_t{i});
    if (slot.id == kNoId) {
      continue;
    }
    if (!view.has(slot.id) || slot.length != view.token(slot.id).size()) {
      refuse("slot " + std::to_string(i) + " names token " + std::to_string(slot.id) +
             ", which is not there or has another length");
    }
    ++used;
  }
  if (used != view.tokens) {
    refuse(std::to_string(used) + " slots are in use for " + std::to_string(view.tokens) + " tokens");
  }
  for (std::uint32_t id = 0; id < view.ids; ++id) {
    if (view.has(id)) {
      const std::string_view token = view.token(id);
      const std::uint64_t hash = hash_of(view.seed, token.data(), token.size());
      if (view.find(hash, token.data(), token.size()) != id) {
        refuse("the table does not lead to token " + std::to_string(id));
      }
    }
  }
}

}  // namespace

VocabularyView read_vocabulary_block(std::span<const std::byte> block) noexcept {
  VocabularyView view;
  if (block.empty()) {
    return view;
  }
  const auto header = load<VocabularyHeader>(block.data());
  view.slots = block.data() + kVocabularyHeaderBytes;
  view.offsets = view.slots + sizeof(VocabularySlot) * std::size_t{header.slots};
  view.text = reinterpret_cast<const char*>(view.offsets + 4 * (std::size_t{header.ids} + 1));
  view.seed = header.seed;
  view.ids = header.ids;
  view.tokens = header.tokens;
  view.slot_mask = header.slots - 1;
  view.slot_shift = static_cast<std::uint32_t>(64 - std::countr_zero(header.slots));
  view.longest_token = header.longest_token;
  return view;
}

void check_vocabulary_block(std::span<const std::byte> block) {
  if (block.size() < kVocabularyHeaderBytes) {
    refuse("its " + std::to_string(block.size()) + " bytes are fewer than the header's " +
           std::to_string(kVocabularyHeaderBytes));
  }
  const auto header = load<VocabularyHeader>(block.data());
  check_header(header, block.size());
  const VocabularyView view = read_vocabulary_block(block);
  check_tokens(view, header);
  check_slots(view);
}

}  // namespace crossbill::tokenizer
