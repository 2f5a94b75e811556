// One block of memory that a worker hands out from front to back and starts over with for every chunk.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace crossbill::engine {

/// Grows when asked for more than it has, never shrinks; every array is 64-byte aligned and uninitialised.
class Arena {
 public:
  /// Forgets all arrays and makes room for `bytes`.
  void reset(std::size_t bytes);
  /// `count` floats; the sum of all arrays since reset(), each rounded up to 64 bytes, must not exceed its
  /// bytes.
  float* floats(std::size_t count);
  std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    void operator()(std::byte* block) const { ::operator delete[](block, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> block_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
};

}  // namespace crossbill::engine
