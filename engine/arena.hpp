// One block of memory that a worker hands out from front to back and starts over with for every chunk.
#pragma once

#include <cstddef>

#include "engine/aligned_floats.hpp"

namespace crossbill::engine {

/// Grows when asked for more than it has, never shrinks; every array is 64-byte aligned and uninitialised.
class Arena {
 public:
  /// Forgets all arrays and makes room for `bytes`.
  void reset(std::size_t bytes);
  /// `count` floats; the sum of all arrays since reset(), each rounded up to 64 bytes, must not exceed its
  /// bytes: that is a mistake in a forward pass and throws std::logic_error.
  float* floats(std::size_t count);
  /// What floats(count) takes.
  static constexpr std::size_t bytes_of(std::size_t count) {
    return AlignedFloats::rounded(count) * sizeof(float);
  }
  /// Bytes that are held, bytes that the last reset() asked for, and bytes handed out since.
  std::size_t capacity() const { return block_.size() * sizeof(float); }
  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_; }

 private:
  AlignedFloats block_;
  std::size_t limit_ = 0;
  std::size_t used_ = 0;
};

}  // namespace crossbill::engine
