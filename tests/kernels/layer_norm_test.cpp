// LayerNorm of every kernel set: against double, against the portable set's bits, and its corner cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace crossbill::kernels::testing {
namespace {

class LayerNorm : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, LayerNorm, ::testing::ValuesIn(available_kernel_sets()), set_name);

/// Arguments of one call. Columns past n of x and residual hold NaN, which must not be taken in.
struct Rows {
  Rows(std::size_t rows, std::size_t n, Side side = Side::end)
      : rows(rows),
        n(n),
        stride(padded(n) + 16),
        x((rows - 1) * stride + padded(n), side),
        residual(x.size(), side),
        gamma(n, side),
        beta(n, side),
        y(x.size(), side) {
    fill(x.span(), [] { return kNaN; });
    fill(residual.span(), [] { return kNaN; });
  }

  template <typename Next>
  void fill_all(Next next) {
    for (std::size_t row = 0; row < rows; ++row) {
      fill(x.span().subspan(row * stride, n), next);
      fill(residual.span().subspan(row * stride, n), next);
    }
    fill(gamma.span(), next);
    fill(beta.span(), next);
  }

  /// Runs a set into y, and returns the padded rows.
  std::vector<float> run(const KernelSet& set, bool with_residual, float epsilon = 1e-12f) {
    fill(y.span(), [] { return 777.0f; });
    set.layer_norm_f32({x.data(), with_residual ? residual.data() : nullptr, gamma.data(), beta.data(),
                        y.data(), rows, n, stride, epsilon});
    std::vector<float> result;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto whole = y.span().subspan(row * stride, padded(n));
      result.insert(result.end(), whole.begin(), whole.end());
    }
    return result;
  }

  std::size_t rows, n, stride;
  GuardedArray<float> x, residual, gamma, beta, y;
};

/// (x − mean)/sqrt(var + epsilon)·gamma + beta in double, biased variance.
std::vector<double> reference_row(const Rows& rows, std::size_t row, bool with_residual, double epsilon) {
  std::vector<double> values(rows.n);
  double mean = 0.0;
  for (std::size_t i = 0; i < rows.n; ++i) {
    const float sum = with_residual ? rows.x[row * rows.stride + i] + rows.residual[row * rows.stride + i]
                                    : rows.x[row * rows.stride + i];
    values[i] = sum;
    mean += values[i] / static_cast<double>(rows.n);
  }
  double variance = 0.0;
  for (const double value : values) {
    variance += (value - mean) * (value - mean) / static_cast<double>(rows.n);
  }
  for (std::size_t i = 0; i < rows.n; ++i) {
    values[i] = (values[i] - mean) / std::sqrt(variance + epsilon) * rows.gamma[i] + rows.beta[i];
  }
  return values;
}

constexpr std::size_t kSizes[] = {1, 2, 10, 15, 16, 17, 31, 32, 33, 128, 312, 384, 768, 1024};

TEST_P(LayerNorm, IsCloseToDouble) {
  Values values(1);
  for (const std::size_t n : kSizes) {
    for (const bool with_residual : {false, true}) {
      Rows rows(3, n);
      rows.fill_all([&] { return values.unit() * 3.0f; });
      const std::vector<float> y = rows.run(set(), with_residual);
      for (std::size_t row = 0; row < 3; ++row) {
        const std::vector<double> expected = reference_row(rows, row, with_residual, 1e-12);
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_NEAR(y[row * padded(n) + i], expected[i], 4e-6 * (1.0 + std::fabs(expected[i])))
              << "n = " << n << ", column " << i;
        }
        for (std::size_t i = n; i < padded(n); ++i) {
          ASSERT_TRUE(same_bits(y[row * padded(n) + i], 0.0f)) << "padding column " << i << " of " << n;
        }
      }
    }
  }
}

TEST_P(LayerNorm, HasThePortableBits) {
  Values values(2);
  for (const std::size_t n : kSizes) {
    for (const Side side : {Side::end, Side::start}) {
      for (const bool with_residual : {false, true}) {
        Rows rows(2, n, side);
        rows.fill_all([&] { return values.mixed(); });
        ASSERT_TRUE(same_bits(rows.run(set(), with_residual), rows.run(portable(), with_residual)))
            << "n = " << n;
        rows.fill_all([&] { return values.unit() * 1e-40f; });
        ASSERT_TRUE(same_bits(rows.run(set(), with_residual), rows.run(portable(), with_residual)))
            << "n = " << n << ", denormal";
      }
    }
  }
}

TEST_P(LayerNorm, MayWriteOverItsInput) {
  Values values(3);
  for (const std::size_t n : {10u, 384u}) {
    Rows rows(4, n);
    rows.fill_all([&] { return values.unit(); });
    const std::vector<float> apart = rows.run(set(), true);
    set().layer_norm_f32({rows.x.data(), rows.residual.data(), rows.gamma.data(), rows.beta.data(),
                          rows.x.data(), 4, n, rows.stride, 1e-12f});
    for (std::size_t row = 0; row < 4; ++row) {
      EXPECT_TRUE(same_bits(rows.x.span().subspan(row * rows.stride, padded(n)),
                            std::span(apart).subspan(row * padded(n), padded(n))));
    }
  }
}

// cases.md N5: a constant row gives the bias, whatever its size; rows around 1e4 stay accurate.
TEST_P(LayerNorm, ConstantRowGivesBeta) {
  Values values(4);
  for (const std::size_t n : kSizes) {
    for (const float constant : {0.0f, 0.1f, -3.3f, 1e4f, 1e-40f, 1e30f}) {
      Rows rows(1, n);
      rows.fill_all([&] { return values.unit(); });
      fill(rows.x.span().first(n), [&] { return constant; });
      const std::vector<float> y = rows.run(set(), false);
      ASSERT_TRUE(same_bits(std::span(y).first(n), rows.beta.span())) << constant << ", n = " << n;
    }
  }
}

TEST_P(LayerNorm, RowsAroundTenThousandStayAccurate) {
  Values values(5);
  Rows rows(2, 384);
  rows.fill_all([&] { return values.unit(); });
  for (std::size_t row = 0; row < 2; ++row) {
    for (float& value : rows.x.span().subspan(row * rows.stride, 384)) {
      value += 1e4f;
    }
  }
  const std::vector<float> y = rows.run(set(), false);
  for (std::size_t row = 0; row < 2; ++row) {
    const std::vector<double> expected = reference_row(rows, row, false, 1e-12);
    for (std::size_t i = 0; i < 384; ++i) {
      ASSERT_NEAR(y[row * 384 + i], expected[i], 4e-6) << row << "," << i;
    }
  }
}

TEST_P(LayerNorm, EpsilonIsTheCallers) {
  Values values(6);
  Rows rows(1, 100);
  rows.fill_all([&] { return values.unit() * 1e-3f; });
  const std::vector<float> y = rows.run(set(), false, 1e-5f);
  const std::vector<double> expected = reference_row(rows, 0, false, 1e-5);
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_NEAR(y[i], expected[i], 1e-9);
  }
}

TEST_P(LayerNorm, NanStaysInItsRow) {
  Values values(7);
  Rows rows(3, 48);
  rows.fill_all([&] { return values.unit(); });
  const std::vector<float> clean = rows.run(set(), true);
  rows.x[rows.stride + 7] = kNaN;
  const std::vector<float> result = rows.run(set(), true);
  for (std::size_t i = 0; i < 48; ++i) {
    EXPECT_TRUE(same_bits(result[i], clean[i]));
    EXPECT_TRUE(std::isnan(result[48 + i]));
    EXPECT_TRUE(same_bits(result[96 + i], clean[96 + i]));
  }
}

}  // namespace
}  // namespace crossbill::kernels::testing
