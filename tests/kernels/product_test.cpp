// Products of every kernel set: against sums in double, bit for bit against the portable set, and between
// guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace crossbill::kernels::testing {
namespace {

class Product : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, Product, ::testing::ValuesIn(available_kernel_sets()), set_name);

/// Operands of one product, each array between guard pages. A weight matrix [n][k] goes into panels.
struct Operands {
  Operands(std::size_t m, std::size_t n, std::size_t k, Side side)
      : m(m),
        n(n),
        k(k),
        a_stride(k + 3),
        a((m - 1) * a_stride + k, side),
        weights(n * k),
        b(f32_panel_size(n, k), side),
        bias(padded(n), side) {}

  template <typename Next>
  void fill_all(Next next) {
    fill(a.span(), next);
    fill(weights, next);
    for (std::size_t channel = 0; channel < n; ++channel) {
      put_f32_panel_row(b.data(), n, k, channel, weights.data() + channel * k);
      bias[channel] = next();
    }
  }

  /// [rows][padded(n)] results of a set, for the first `rows` rows of A.
  std::vector<float> run(const KernelSet& set, std::size_t rows, bool with_bias,
                         Side side = Side::end) const {
    constexpr float kUntouched = -12345.0f;
    const std::size_t columns = padded(n);
    const std::size_t c_stride = columns + 5;
    GuardedArray<float> c((rows - 1) * c_stride + columns, side);
    fill(c.span(), [] { return kUntouched; });
    set.product_f32(
        {a.data(), a_stride, b.data(), with_bias ? bias.data() : nullptr, c.data(), c_stride, rows, n, k});
    std::vector<float> result;
    for (std::size_t row = 0; row < rows; ++row) {
      const float* first = c.data() + row * c_stride;
      result.insert(result.end(), first, first + columns);
      for (std::size_t beyond = columns; row + 1 < rows && beyond < c_stride; ++beyond) {
        EXPECT_EQ(first[beyond], kUntouched) << "row " << row << " wrote past its columns";
      }
    }
    return result;
  }

  std::size_t m, n, k, a_stride;
  GuardedArray<float> a;
  std::vector<float> weights;
  GuardedArray<float> b;
  GuardedArray<float> bias;
};

/// (n, k) within and beyond MiniLM's: one label, two labels, token types, odd sizes, the bundled models'.
std::vector<std::pair<std::size_t, std::size_t>> shapes() {
  std::vector<std::pair<std::size_t, std::size_t>> result = {{1, 1},   {1, 384},  {2, 10}, {16, 26},
                                                             {17, 10}, {48, 312}, {33, 65}};
  if (!quick()) {
    result.insert(result.end(), {{312, 312}, {384, 384}, {1152, 384}, {384, 1536}, {1200, 312}});
  }
  return result;
}

TEST_P(Product, IsCloseToSumsInDouble) {
  Values values(1);
  for (const auto& [n, k] : shapes()) {
    const std::size_t m = 5;
    Operands operands(m, n, k, Side::end);
    operands.fill_all([&] { return values.unit(); });
    const std::vector<float> c = operands.run(set(), m, true);
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t column = 0; column < padded(n); ++column) {
        double sum = column < n ? operands.bias[column] : 0.0;
        double sizes = std::fabs(sum);
        for (std::size_t i = 0; column < n && i < k; ++i) {
          const double term = static_cast<double>(operands.a[row * operands.a_stride + i]) *
                              static_cast<double>(operands.weights[column * k + i]);
          sum += term;
          sizes += std::fabs(term);
        }
        // Each of k + 1 roundings is at most half an ulp of a partial sum.
        const double bound = static_cast<double>(k + 1) * 0x1p-24 * sizes;
        ASSERT_NEAR(c[row * padded(n) + column], sum, bound)
            << n << "x" << k << " at " << row << "," << column;
      }
    }
  }
}

TEST_P(Product, HasThePortableBitsForEveryNumberOfRows) {
  Values values(2);
  for (const auto& [n, k] : shapes()) {
    const bool large = n * k > 200'000;
    const std::size_t m = quick() ? 9 : large ? 27 : 50;
    for (const Side side : {Side::end, Side::start}) {
      Operands operands(m, n, k, side);
      operands.fill_all([&] { return values.mixed(); });
      const std::vector<float> expected = operands.run(portable(), m, true);
      // From the first row on, so that every prefix must have the bits of the whole: the number of rows, and
      // with it the tile that a row falls into, doesn't matter.
      for (std::size_t rows = 1; rows <= m; ++rows) {
        if (rows > 14 && rows + 1 < m && (large || side == Side::start)) {
          continue;
        }
        Operands exact(rows, n, k, side);
        std::copy_n(operands.a.data(), exact.a.size(), exact.a.data());
        std::copy_n(operands.b.data(), exact.b.size(), exact.b.data());
        std::copy_n(operands.bias.data(), exact.bias.size(), exact.bias.data());
        ASSERT_TRUE(
            same_bits(exact.run(set(), rows, true, side), std::span(expected).first(rows * padded(n))))
            << rows << " rows, n = " << n << ", k = " << k;
      }
    }
  }
}

TEST_P(Product, HasThePortableBitsWithoutBias) {
  Values values(3);
  Operands operands(7, 48, 65, Side::end);
  operands.fill_all([&] { return values.mixed(); });
  EXPECT_TRUE(same_bits(operands.run(set(), 7, false), operands.run(portable(), 7, false)));
}

TEST_P(Product, HasThePortableBitsWhereRowsSpanSeveralBlocks) {
  Values values(4);
  // 14 rows of 8192 floats are more than one block of rows of A.
  Operands operands(14, 16, 8192, Side::end);
  operands.fill_all([&] { return values.unit(); });
  EXPECT_TRUE(same_bits(operands.run(set(), 14, true), operands.run(portable(), 14, true)));
}

TEST_P(Product, HasThePortableBitsForValuesOfEverySize) {
  Values values(5);
  for (int round = 0; round < (quick() ? 2 : 20); ++round) {
    Operands operands(9, 33, 40, Side::end);
    operands.fill_all([&] { return values.any_finite(); });  // overflows to infinities and NaN on the way
    ASSERT_TRUE(same_bits(operands.run(set(), 9, true), operands.run(portable(), 9, true)));
  }
}

TEST_P(Product, CarriesNanAndInfinityToTheirOwnRowOnly) {
  Operands operands(8, 17, 20, Side::end);
  Values values(6);
  operands.fill_all([&] { return values.unit(); });
  const std::vector<float> clean = operands.run(set(), 8, true);
  operands.a[2 * operands.a_stride + 5] = kNaN;
  operands.a[6 * operands.a_stride + 19] = kInfinity;
  const std::vector<float> result = operands.run(set(), 8, true);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 17; ++column) {
      const float value = result[row * 32 + column];
      if (row == 2) {
        EXPECT_TRUE(std::isnan(value));
      } else if (row == 6) {
        EXPECT_TRUE(std::isinf(value));
      } else {
        EXPECT_TRUE(same_bits(value, clean[row * 32 + column]));
      }
    }
  }
}

}  // namespace
}  // namespace crossbill::kernels::testing
