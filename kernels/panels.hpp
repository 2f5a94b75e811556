// Weight matrices in the order in which the micro-kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

/// f32 panels [padded(n)/16][k][16]: floats they take.
constexpr std::size_t f32_panel_size(std::size_t n, std::size_t k) {
  return padded(n) * k;
}
/// Writes output channel `channel` (row of a [n][k] weight matrix) to its column in the panels. Putting the
/// last channel, n − 1, also writes zeros to the columns past n, so that panels need not be cleared before.
void put_f32_panel_row(float* panels, std::size_t n, std::size_t k, std::size_t channel, const float* row);

/// s8 panels [padded(n)/16][padded64(k)/4][16][4], 64-byte aligned, columns past n and inputs past k zero:
/// a group of 4 inputs of 16 channels is one 64-byte line, 16 such groups are one AMX tile.
constexpr std::size_t s8_padded_inputs(std::size_t k) {
  return (k + 63) / 64 * 64;
}
constexpr std::size_t s8_panel_size(std::size_t n, std::size_t k) {
  return padded(n) * s8_padded_inputs(k);
}
/// As put_f32_panel_row; the inputs past k of this channel are written as zeros too.
void put_s8_panel_row(std::int8_t* panels, std::size_t n, std::size_t k, std::size_t channel,
                      const std::int8_t* row);
/// Reads output channel `channel` back into row[0 … k).
void get_s8_panel_row(const std::int8_t* panels, std::size_t n, std::size_t k, std::size_t channel,
                      std::int8_t* row);

}  // namespace crossbill::kernels
