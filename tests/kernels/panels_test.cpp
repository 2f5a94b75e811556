// Panel layouts: where each weight lies, zeros where there is none, and reading back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/panels.hpp"
#include "tests/kernels/guarded_array.hpp"

namespace crossbill::kernels::testing {
namespace {

TEST(F32Panels, HoldSixteenChannelsSideBySide) {
  const std::size_t n = 19;
  const std::size_t k = 5;
  GuardedArray<float> panels(f32_panel_size(n, k));
  for (float& value : panels.span()) {
    value = -1.0f;
  }
  for (std::size_t channel = 0; channel < n; ++channel) {
    std::vector<float> row(k);
    for (std::size_t input = 0; input < k; ++input) {
      row[input] = static_cast<float>(100 * channel + input);
    }
    put_f32_panel_row(panels.data(), n, k, channel, row.data());
  }
  ASSERT_EQ(panels.size(), 2u * 5 * 16);
  for (std::size_t panel = 0; panel < 2; ++panel) {
    for (std::size_t input = 0; input < k; ++input) {
      for (std::size_t column = 0; column < 16; ++column) {
        const std::size_t channel = panel * 16 + column;
        const float expected = channel < n ? static_cast<float>(100 * channel + input) : 0.0f;
        EXPECT_EQ(panels[(panel * k + input) * 16 + column], expected);
      }
    }
  }
}

TEST(S8Panels, HoldQuadsOfInputsOfSixteenChannels) {
  const std::size_t n = 18;
  const std::size_t k = 70;
  GuardedArray<std::int8_t> panels(s8_panel_size(n, k));
  for (std::int8_t& value : panels.span()) {
    value = -128;
  }
  const auto weight = [](std::size_t channel, std::size_t input) {
    return static_cast<std::int8_t>(static_cast<int>((channel * 37 + input * 11) % 255) - 127);
  };
  for (std::size_t channel = 0; channel < n; ++channel) {
    std::vector<std::int8_t> row(k);
    for (std::size_t input = 0; input < k; ++input) {
      row[input] = weight(channel, input);
    }
    put_s8_panel_row(panels.data(), n, k, channel, row.data());
  }
  ASSERT_EQ(panels.size(), 2u * 128 * 16);
  for (std::size_t panel = 0; panel < 2; ++panel) {
    for (std::size_t quad = 0; quad < 128 / 4; ++quad) {
      for (std::size_t column = 0; column < 16; ++column) {
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t channel = panel * 16 + column;
          const std::size_t input = quad * 4 + i;
          const int expected = channel < n && input < k ? weight(channel, input) : 0;
          ASSERT_EQ(panels[((panel * 32 + quad) * 16 + column) * 4 + i], expected)
              << "channel " << channel << ", input " << input;
        }
      }
    }
  }
}

TEST(S8Panels, RowsReadBack) {
  for (const auto& [n, k] : {std::pair<std::size_t, std::size_t>{1, 1}, {16, 64}, {17, 65}, {48, 312}}) {
    GuardedArray<std::int8_t> panels(s8_panel_size(n, k));
    std::vector<std::vector<std::int8_t>> rows;
    for (std::size_t channel = 0; channel < n; ++channel) {
      std::vector<std::int8_t>& row = rows.emplace_back(k);
      for (std::size_t input = 0; input < k; ++input) {
        row[input] = static_cast<std::int8_t>((channel * 31 + input * 7) % 256 - 128);
      }
      put_s8_panel_row(panels.data(), n, k, channel, row.data());
    }
    for (std::size_t channel = 0; channel < n; ++channel) {
      GuardedArray<std::int8_t> row(k);
      get_s8_panel_row(panels.data(), n, k, channel, row.data());
      EXPECT_TRUE(std::equal(rows[channel].begin(), rows[channel].end(), row.data()));
    }
  }
}

}  // namespace
}  // namespace crossbill::kernels::testing
