#include "engine/arena.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace crossbill::engine {

void Arena::reset(std::size_t bytes) {
  if (bytes > capacity()) {
    block_ = AlignedFloats();  // the old block goes first, so that both never stand side by side
    block_ = AlignedFloats(AlignedFloats::rounded((bytes + sizeof(float) - 1) / sizeof(float)));
  }
  limit_ = bytes;
  used_ = 0;
}

float* Arena::floats(std::size_t count) {
  const std::size_t bytes = bytes_of(count);
  if (bytes > limit_ - used_)
    throw std::logic_error("the arena has " + std::to_string(limit_ - used_) + " of " +
                           std::to_string(limit_) + " bytes left, but " + std::to_string(bytes) +
                           " were asked for: arena_bytes() of this forward pass is too small");
  float* array = block_.data() + used_ / sizeof(float);
  used_ += bytes;
  return array;
}

}  // namespace crossbill::engine
