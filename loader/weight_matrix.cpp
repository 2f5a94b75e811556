// Reading rows of a WeightMatrix as f32.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/panels.hpp"
#include "loader/half.hpp"
#include "loader/model.hpp"

namespace crossbill::loader {
namespace {

/// Rows in a mapped safetensors file may start at any byte, so elements are copied out before they are read.
template <typename Element, typename Widen>
void widen(const std::byte* row, std::size_t count, float* out, Widen to_f32) {
  for (std::size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, row + i * sizeof element, sizeof element);
    out[i] = to_f32(element);
  }
}

}  // namespace

void WeightMatrix::widen_row(std::size_t row, float* out) const {
  switch (dtype) {
    case DType::f32:
      std::memcpy(out, data + row * cols * sizeof(float), cols * sizeof(float));
      return;
    case DType::f16:
      widen<std::uint16_t>(data + row * cols * 2, cols, out, f16_to_f32);
      return;
    case DType::bf16:
      widen<std::uint16_t>(data + row * cols * 2, cols, out, bf16_to_f32);
      return;
    case DType::s8:
      break;
  }
  const float scale = scales[row];
  const auto* quantised = reinterpret_cast<const std::int8_t*>(data);
  std::vector<std::int8_t> gathered;
  if (layout == Layout::panels) {
    gathered.resize(cols);
    kernels::get_s8_panel_row(quantised, rows, cols, row, gathered.data());
    quantised = gathered.data();
  } else {
    quantised += row * cols;
  }
  for (std::size_t i = 0; i < cols; ++i) {
    out[i] = scale * static_cast<float>(quantised[i]);
  }
}

}  // namespace crossbill::loader
