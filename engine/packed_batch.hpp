// Several pairs in one row of tokens: no padding, no mask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "crossbill/encoding.hpp"

namespace crossbill::engine {

/// Pair p has the tokens offsets[p] … offsets[p+1]. Positions and [CLS] rows follow from the offsets.
struct PackedBatch {
  std::vector<std::int32_t> token_ids;     ///< [tokens]
  std::vector<std::uint8_t> type_ids;      ///< [tokens]
  std::vector<std::size_t> offsets = {0};  ///< [pairs + 1]

  void clear();
  void append(const EncodedPair& pair);
  std::size_t pairs() const { return offsets.size() - 1; }
  std::size_t tokens() const { return token_ids.size(); }
  std::size_t length(std::size_t pair) const { return offsets[pair + 1] - offsets[pair]; }
  std::size_t longest() const;
};

}  // namespace crossbill::engine
