#include "tokenizer/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "tokenizer/message.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary_block.hpp"
#include "tokenizer/vocabulary_header.hpp"

namespace crossbill::tokenizer {
namespace {

using TokensById = std::vector<std::optional<std::string_view>>;

constexpr std::uint64_t kFirstSeed = 0x243F6A8885A308D3;
constexpr int kSeedsToTry = 64;

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::bad_model, "vocabulary: " + reason);
}

/// Ids are taken from files, and memory is needed for each up to the largest, so the largest is bounded by
/// how many tokens there are.
std::int32_t largest_allowed_id(std::size_t tokens) {
  return static_cast<std::int32_t>(std::min<std::size_t>(4 * tokens + 65536, kMostIds) - 1);
}

TokensById sort_by_id(const std::vector<std::pair<std::string, std::int32_t>>& tokens) {
  std::unordered_map<std::string_view, std::int32_t> last_id;
  last_id.reserve(tokens.size());
  const std::int32_t largest = largest_allowed_id(tokens.size());
  for (const auto& [token, id] : tokens) {
    if (id < 0 || id > largest) {
      refuse("the token " + in_quotes(token) + " has id " + std::to_string(id) + ", outside 0.." +
             std::to_string(largest));
    }
    if (token.size() > kMostTokenBytes) {
      refuse("the token with id " + std::to_string(id) + " has " + std::to_string(token.size()) +
             " bytes, more than " + std::to_string(kMostTokenBytes));
    }
    if (!is_valid_utf8(token)) {
      refuse("the token " + in_quotes(token) + " with id " + std::to_string(id) + " is not valid UTF-8");
    }
    last_id[token] = id;
  }
  TokensById by_id;
  for (const auto& [token, id] : last_id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= by_id.size()) {
      by_id.resize(index + 1);
    }
    if (by_id[index]) {
      refuse("the tokens " + in_quotes(*by_id[index]) + " and " + in_quotes(token) + " both have id " +
             std::to_string(id));
    }
    by_id[index] = token;
  }
  return by_id;
}

VocabularyHeader make_header(const TokensById& by_id) {
  VocabularyHeader header;
  std::memcpy(header.magic, kVocabularyMagic, sizeof(header.magic));
  header.ids = static_cast<std::uint32_t>(by_id.size());
  for (const auto& token : by_id) {
    if (token) {
      const auto bytes = static_cast<std::uint32_t>(token->size());
      if (bytes >= kGap - header.text_bytes) {
        refuse("its tokens have more than " + std::to_string(kGap) + " bytes together");
      }
      ++header.tokens;
      header.text_bytes += bytes;
      header.longest_token = std::max(header.longest_token, bytes);
    }
  }
  header.slots = std::bit_ceil(std::max(2U, 2 * header.tokens));
  header.block_bytes = vocabulary_block_bytes(header);
  return header;
}

/// Fills the slots for one seed. False if a token would lie too far from its home slot.
bool fill_slots(const VocabularyView& view, std::byte* slots) {
  const VocabularySlot empty = {0, 0, kNoId};
  for (std::size_t i = 0; i <= view.slot_mask; ++i) {
    std::memcpy(slots + i * sizeof(empty), &empty, sizeof(empty));
  }
  for (std::uint32_t id = 0; id < view.ids; ++id) {
    if (!view.has(id)) {
      continue;
    }
    const std::string_view token = view.token(id);
    auto at = static_cast<std::uint32_t>(hash_of(view.seed, token.data(), token.size()) >> view.slot_shift);
    std::uint32_t probe = 0;
    while (load<VocabularySlot>(slots + at * sizeof(VocabularySlot)).id != kNoId) {
      if (++probe > kLongestProbe) {
        return false;
      }
      at = (at + 1) & view.slot_mask;
    }
    const VocabularySlot slot = {head_of(token.data(), token.size()),
                                 static_cast<std::uint32_t>(token.size()), id};
    std::memcpy(slots + at * sizeof(slot), &slot, sizeof(slot));
  }
  return true;
}

void write_tokens(const TokensById& by_id, const VocabularyHeader& header, std::byte* block) {
  std::byte* offset = block + kVocabularyHeaderBytes + sizeof(VocabularySlot) * std::size_t{header.slots};
  std::byte* text = offset + 4 * (by_id.size() + 1);
  std::uint32_t at = 0;
  for (const auto& token : by_id) {
    const std::uint32_t value = token ? at : at | kGap;
    std::memcpy(offset, &value, 4);
    offset += 4;
    if (token && !token->empty()) {
      std::memcpy(text + at, token->data(), token->size());
      at += static_cast<std::uint32_t>(token->size());
    }
  }
  std::memcpy(offset, &at, 4);
}

}  // namespace

Vocabulary Vocabulary::build(const std::vector<std::pair<std::string, std::int32_t>>& tokens) {
  const TokensById by_id = sort_by_id(tokens);
  VocabularyHeader header = make_header(by_id);
  auto bytes = std::make_shared<std::vector<std::byte>>(header.block_bytes);
  write_tokens(by_id, header, bytes->data());
  for (int seed = 0; seed < kSeedsToTry; ++seed) {
    header.seed = kFirstSeed * static_cast<std::uint64_t>(2 * seed + 1);
    std::memcpy(bytes->data(), &header, sizeof(header));
    if (fill_slots(read_vocabulary_block(*bytes), bytes->data() + kVocabularyHeaderBytes)) {
      Vocabulary vocabulary;
      vocabulary.block_ = *bytes;
      vocabulary.owner_ = std::move(bytes);
      return vocabulary;
    }
  }
  refuse("its tokens collide in the hash table under every seed");
}

Vocabulary Vocabulary::view(std::span<const std::byte> block, std::shared_ptr<const void> owner) {
  check_vocabulary_block(block);
  Vocabulary vocabulary;
  vocabulary.block_ = block;
  vocabulary.owner_ = std::move(owner);
  return vocabulary;
}

std::size_t Vocabulary::size() const noexcept {
  return read_vocabulary_block(block_).ids;
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const noexcept {
  const VocabularyView view = read_vocabulary_block(block_);
  if (view.tokens == 0 || token.size() > view.longest_token) {
    return std::nullopt;
  }
  std::array<char, kMostTokenBytes + kVocabularyPaddingBytes> padded{};
  token.copy(padded.data(), token.size());
  const std::uint32_t id =
      view.find(hash_of(view.seed, padded.data(), token.size()), padded.data(), token.size());
  return id == kNoId ? std::nullopt : std::optional(static_cast<std::int32_t>(id));
}

std::string_view Vocabulary::token(std::int32_t id) const noexcept {
  const VocabularyView view = read_vocabulary_block(block_);
  const auto index = static_cast<std::uint32_t>(id);  // a negative id becomes one beyond the vocabulary
  return view.has(index) ? view.token(index) : std::string_view();
}

}  // namespace crossbill::tokenizer
