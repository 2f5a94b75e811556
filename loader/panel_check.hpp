// The one pass over s8 panels that keeps a foreign or damaged file from breaking exactness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace crossbill::loader {

/// Checks s8 panels of [rows][cols] (kernels/panels.hpp): |q| ≤ 127, every pair (2i, 2i+1) of an output
/// channel sums to at most 128 in magnitude, the padding is zero, and column_sums[padded(rows)] is what it
/// says. Error bad_model beginning with `where` and naming the output channel.
void check_panels(std::span<const std::int8_t> panels, std::span<const std::int32_t> column_sums,
                  std::size_t rows, std::size_t cols, const std::string& where);

}  // namespace crossbill::loader
