// Puts rows of weight matrices into panels and reads them back.
#include "kernels/panels.hpp"

namespace crossbill::kernels {

namespace {

/// Inputs that lie side by side in an s8 panel: what one 32-bit lane of a dot-product instruction takes.
constexpr std::size_t kQuad = 4;

/// Where input `input` of output channel `channel` lies in s8 panels of `inputs` padded inputs.
std::size_t s8_position(std::size_t inputs, std::size_t channel, std::size_t input) {
  const std::size_t panel = channel / kLanes;
  const std::size_t column = channel % kLanes;
  return ((panel * (inputs / kQuad) + input / kQuad) * kLanes + column) * kQuad + input % kQuad;
}

}  // namespace

void put_f32_panel_row(float* panels, std::size_t n, std::size_t k, std::size_t channel, const float* row) {
  float* column = panels + channel / kLanes * kLanes * k + channel % kLanes;
  for (std::size_t input = 0; input < k; ++input) {
    column[input * kLanes] = row[input];
  }
  // Whoever writes the last channel also clears the columns that have no channel.
  if (channel + 1 == n) {
    for (std::size_t beyond = n; beyond < padded(n); ++beyond) {
      float* empty = panels + beyond / kLanes * kLanes * k + beyond % kLanes;
      for (std::size_t input = 0; input < k; ++input) {
        empty[input * kLanes] = 0.0f;
      }
    }
  }
}

void put_s8_panel_row(std::int8_t* panels, std::size_t n, std::size_t k, std::size_t channel,
                      const std::int8_t* row) {
  const std::size_t inputs = s8_padded_inputs(k);
  for (std::size_t input = 0; input < inputs; ++input) {
    panels[s8_position(inputs, channel, input)] = input < k ? row[input] : std::int8_t{0};
  }
  if (channel + 1 == n) {
    for (std::size_t beyond = n; beyond < padded(n); ++beyond) {
      for (std::size_t input = 0; input < inputs; ++input) {
        panels[s8_position(inputs, beyond, input)] = 0;
      }
    }
  }
}

void get_s8_panel_row(const std::int8_t* panels, [[maybe_unused]] std::size_t n, std::size_t k,
                      std::size_t channel, std::int8_t* row) {
  const std::size_t inputs = s8_padded_inputs(k);
  for (std::size_t input = 0; input < k; ++input) {
    row[input] = panels[s8_position(inputs, channel, input)];
  }
}

}  // namespace crossbill::kernels
