// From token ids to logits. `reference` is the oracle, `fp32` the fast one; both keep the same interface.
#pragma once

#include <cstddef>
#include <span>

#include "engine/arena.hpp"
#include "engine/packed_batch.hpp"

namespace crossbill::engine {

/// Immutable after construction: any number of threads may run it at once, each with its own arena.
class ForwardPass {
 public:
  virtual ~ForwardPass() = default;
  /// logits[pair·labels + label]. Ids, type ids and lengths are valid (the caller has checked them). The
  /// arena is reset first.
  virtual void run(const PackedBatch& batch, std::span<float> logits, Arena& arena) const = 0;
  /// Bytes of arena that run() takes for a batch of so many tokens whose longest pair has `longest`.
  virtual std::size_t arena_bytes(std::size_t tokens, std::size_t longest) const = 0;
  virtual std::size_t labels() const = 0;
};

}  // namespace crossbill::engine
