#include "loader/message.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace crossbill::loader {

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return out + "]";
}

}  // namespace crossbill::loader
