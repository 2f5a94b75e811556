// Token strings, their ids, and the lookup from one to the other, in one position-independent block of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crossbill::tokenizer {

/// The block is what a .cbm file stores, so that opening a packed model builds no table. It holds every
/// token's bytes and a ready-made hash table; docs/vocabulary_block.md describes the layout. Copies share the
/// block.
class Vocabulary {
 public:
  Vocabulary() = default;  ///< empty

  /// Builds the block in memory. Of a token that is listed twice the last id wins; ids may have gaps.
  /// Error bad_model on a negative id, one that more than one token has, or a token that is not UTF-8.
  static Vocabulary build(const std::vector<std::pair<std::string, std::int32_t>>& tokens);

  /// Checks every offset of `block` (one pass, nothing is copied) and reads it in place; `owner` keeps it
  /// alive. Error bad_model with the reason if the block is not sound.
  static Vocabulary view(std::span<const std::byte> block, std::shared_ptr<const void> owner);

  /// Largest id + 1.
  std::size_t size() const noexcept;
  std::optional<std::int32_t> find(std::string_view token) const noexcept;
  /// Spelling of an id; empty for a gap or an id outside [0, size()).
  std::string_view token(std::int32_t id) const noexcept;
  std::span<const std::byte> block() const noexcept { return block_; }

 private:
  std::span<const std::byte> block_;
  std::shared_ptr<const void> owner_;
};

}  // namespace crossbill::tokenizer
