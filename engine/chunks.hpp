// How pairs are put together into chunks, the pieces of work that a thread takes through all layers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace crossbill::engine {

/// Tokens of a chunk beyond which a larger one no longer makes the products faster.
inline constexpr std::size_t kChunkTokens = 512;

/// Chunk c has the pairs order[starts[c]] … order[starts[c+1] − 1].
struct ChunkPlan {
  std::vector<std::size_t> order;   ///< [pairs] pair indices, longest pair first, equals by index
  std::vector<std::size_t> starts;  ///< [chunks + 1]

  std::size_t chunks() const { return starts.size() - 1; }
  std::span<const std::size_t> pairs(std::size_t chunk) const {
    return std::span(order).subspan(starts[chunk], starts[chunk + 1] - starts[chunk]);
  }
};

/// Longest first, so that the last chunks to end are small ones; as many pairs to a chunk as fit into
/// total/(4·threads) tokens, so that each thread gets several chunks and none is left with much more than the
/// others, but at most `limit` tokens and at least one pair. `lengths` are tokens per pair.
ChunkPlan plan_chunks(std::span<const std::size_t> lengths, int threads, std::size_t limit);

}  // namespace crossbill::engine
