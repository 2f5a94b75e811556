// An array of floats on a cache-line boundary, as the kernels ask for their panels and scratch.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace crossbill::engine {

/// Owns `size()` floats, 64-byte aligned and uninitialised; movable, not copyable.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count)
      : block_(count == 0
                   ? nullptr
                   : static_cast<float*>(::operator new[](rounded(count) * sizeof(float), kAlignment))),
        size_(count) {}

  /// `count` rounded up to whole cache lines of 16 floats.
  static constexpr std::size_t rounded(std::size_t count) { return (count + 15) / 16 * 16; }

  float* data() { return block_.get(); }
  const float* data() const { return block_.get(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(float* block) const { ::operator delete[](block, kAlignment); }
  };
  std::unique_ptr<float[], Free> block_;
  std::size_t size_ = 0;
};

}  // namespace crossbill::engine
