#include "loader/panel_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "crossbill/error.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"

namespace crossbill::loader {
namespace {

constexpr std::size_t kChannels = kernels::kLanes;  // of a panel
constexpr std::size_t kQuad = 4;                    // inputs that lie side by side
constexpr std::size_t kPairs = kChannels * kQuad / 2;
constexpr int kMostMagnitude = 127;
constexpr int kMostPairSum = 128;

/// What one panel's bytes come to, for 32 columns of pairs: pair p belongs to channel p/2.
struct PanelSums {
  std::array<std::int32_t, kPairs> sum{};
  std::int16_t least_value = 0;
  std::int16_t largest_pair = 0;
  std::int16_t smallest_pair = 0;
};

/// Reads a panel as pairs of s8 in 16-bit lanes, a form that compilers vectorise for any instruction set. Of
/// unequal sign a pair's sum is smaller than either part, so the pair bound is a bound on the sum.
PanelSums sum_panel(std::span<const std::int8_t> panel) {
  PanelSums result;
  std::array<std::int16_t, kPairs> least{}, largest{}, smallest{};
  constexpr std::size_t kGroup = kPairs * 2;  // bytes of four inputs of all channels
  constexpr std::size_t kGroupsAtOnce = 120;  // 120·256 fits 16 bits, whatever the bytes are
  for (std::size_t start = 0; start < panel.size();) {
    const std::size_t stop = std::min(panel.size(), start + kGroupsAtOnce * kGroup);
    std::array<std::int16_t, kPairs> partial{};
    for (; start < stop; start += kGroup) {
      std::array<std::uint16_t, kPairs> pairs;
      std::memcpy(pairs.data(), panel.data() + start, kGroup);
      for (std::size_t p = 0; p < kPairs; ++p) {
        const auto low = static_cast<std::int16_t>(static_cast<std::int16_t>(pairs[p] << 8) >> 8);
        const auto high = static_cast<std::int16_t>(static_cast<std::int16_t>(pairs[p]) >> 8);
        const auto sum = static_cast<std::int16_t>(low + high);
        partial[p] = static_cast<std::int16_t>(partial[p] + sum);
        least[p] = std::min(least[p], std::min(low, high));
        largest[p] = std::max(largest[p], sum);
        smallest[p] = std::min(smallest[p], sum);
      }
    }
    for (std::size_t p = 0; p < kPairs; ++p) {
      result.sum[p] += partial[p];
    }
  }
  result.least_value = *std::min_element(least.begin(), least.end());
  result.largest_pair = *std::max_element(largest.begin(), largest.end());
  result.smallest_pair = *std::min_element(smallest.begin(), smallest.end());
  return result;
}

/// Whether inputs past `cols` and channels past `channels` are zero in this panel.
bool padding_is_zero(std::span<const std::int8_t> panel, std::size_t channels, std::size_t cols) {
  const std::size_t quads = panel.size() / (kChannels * kQuad);
  // Only the last inputs can be padding, unless channels are missing.
  for (std::size_t quad = channels < kChannels ? 0 : cols / kQuad; quad < quads; ++quad) {
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      for (std::size_t i = 0; i < kQuad; ++i) {
        const bool padding = channel >= channels || quad * kQuad + i >= cols;
        if (padding && panel[(quad * kChannels + channel) * kQuad + i] != 0) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

void check_panels(std::span<const std::int8_t> panels, std::span<const std::int32_t> column_sums,
                  std::size_t rows, std::size_t cols, const std::string& where) {
  const std::size_t panel_bytes = kernels::s8_padded_inputs(cols) * kChannels;
  for (std::size_t first = 0; first < kernels::padded(rows); first += kChannels) {
    const auto panel = panels.subspan(first * kernels::s8_padded_inputs(cols), panel_bytes);
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::bad_model, where + ": among output channels " + std::to_string(first) + " to " +
                                            std::to_string(first + kChannels - 1) + " " + what);
    };
    const PanelSums sums = sum_panel(panel);
    if (sums.least_value < -kMostMagnitude) {
      fail("a weight is -128, expected -127 to 127");
    }
    if (sums.largest_pair > kMostPairSum || sums.smallest_pair < -kMostPairSum) {
      fail("two neighbouring weights of equal sign break the pair bound of 128");
    }
    if (!padding_is_zero(panel, std::min(kChannels, rows - first), cols)) {
      fail("the padding is not zero");
    }
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      if (sums.sum[2 * channel] + sums.sum[2 * channel + 1] != column_sums[first + channel]) {
        fail("column_sums[" + std::to_string(first + channel) + "] is not the sum of its weights");
      }
    }
  }
}

}  // namespace crossbill::loader
