#include "loader/quantiser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace crossbill::loader {
namespace {

__extension__ using Wide = __int128;

/// |w|/s rounded to nearest, ties to even, by exact integer arithmetic: w = a·2^e, s = b·2^f.
std::int64_t exact_magnitude(float w, float s) {
  if (w == 0) {
    return 0;
  }
  int e = 0;
  int f = 0;
  const Wide a = static_cast<Wide>(std::ldexp(std::frexp(std::abs(w), &e), 24));
  const Wide b = static_cast<Wide>(std::ldexp(std::frexp(s, &f), 24));
  const int shift = e - f;
  if (shift > 40) {
    return std::int64_t{1} << 40;  // far beyond any bound
  }
  if (shift < -40) {
    return 0;
  }
  const Wide numerator = shift > 0 ? a << shift : a;
  const Wide denominator = shift > 0 ? b : b << -shift;
  const Wide quotient = numerator / denominator;
  const Wide twice = 2 * (numerator % denominator);
  const bool up = twice > denominator || (twice == denominator && quotient % 2 == 1);
  return static_cast<std::int64_t>(quotient + up);
}

/// The definition in the header, word for word.
bool fits(std::span<const float> row, float scale, bool pairs) {
  for (std::size_t k = 0; k < row.size(); k += 2) {
    const float a = row[k];
    const float b = k + 1 < row.size() ? row[k + 1] : 0.0f;
    const auto qa = exact_magnitude(a, scale);
    const auto qb = exact_magnitude(b, scale);
    if (qa > 127 || qb > 127 || (pairs && std::signbit(a) == std::signbit(b) && qa + qb > 128)) {
      return false;
    }
  }
  return true;
}

/// The scale fits; none of the next thousands of smaller floats does, nor any of many much smaller ones.
void expect_smallest(std::span<const float> row, float scale, bool pairs, std::mt19937& random) {
  ASSERT_TRUE(fits(row, scale, pairs)) << scale;
  float below = scale;
  for (int i = 0; i < 3000 && below > 0; ++i) {
    below = std::nextafter(below, 0.0f);
    ASSERT_TRUE(below == 0 || !fits(row, below, pairs)) << scale << " but " << below << " fits too";
  }
  std::uniform_real_distribution<float> uniform(0.01f, 1.0f);
  for (int i = 0; i < 1000; ++i) {
    const float smaller = scale * uniform(random);
    ASSERT_TRUE(smaller >= scale || smaller == 0 || !fits(row, smaller, pairs))
        << scale << " but " << smaller << " fits too";
  }
}

std::vector<float> random_row(std::size_t size, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> row(size);
  for (auto& value : row) {
    value = normal(random);
  }
  return row;
}

TEST(Quantiser, FindsTheSmallestScaleUnderThePairBound) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    auto row = random_row(1 + random() % 9, random);
    if (trial % 3 == 0) {  // few distinct values, so that quotients are ties
      for (auto& value : row) {
        value = static_cast<float>(static_cast<int>(random() % 9) - 4);
      }
      row[0] = 4;
    }
    std::vector<std::int8_t> q(row.size());
    const float scale = quantise_channel(row, q);
    expect_smallest(row, scale, true, random);
    EXPECT_TRUE(within_pair_bound(q));
    for (std::size_t k = 0; k < row.size(); ++k) {
      EXPECT_EQ(std::abs(q[k]), exact_magnitude(row[k], scale));
      EXPECT_TRUE(q[k] == 0 || (q[k] < 0) == (row[k] < 0));
    }
  }
}

TEST(Quantiser, FindsTheSmallestScaleOfAnEmbeddingRow) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 30; ++trial) {
    const auto row = random_row(1 + random() % 9, random);
    std::vector<std::int8_t> q(row.size());
    expect_smallest(row, quantise_row(row, q), false, random);
  }
}

TEST(Quantiser, LimitsAreReached) {
  std::vector<std::int8_t> q(2);
  // Equal signs share 128; of the two neighbours of a tie one is even.
  const float same[] = {1.0f, 1.0f};
  quantise_channel(same, q);
  EXPECT_EQ(q[0] + q[1], 128);
  const float opposite[] = {1.0f, -1.0f};
  quantise_channel(opposite, q);
  EXPECT_EQ(q[0], 127);
  EXPECT_EQ(q[1], -127);
  const float alone[] = {-3.0f, 0.0f};
  quantise_channel(alone, q);
  EXPECT_EQ(q[0], -127);
}

TEST(Quantiser, ErrorIsAtMostHalfAStep) {
  std::mt19937 random(9);
  const auto row = random_row(384, random);
  std::vector<std::int8_t> q(row.size());
  const double scale = quantise_channel(row, q);
  for (std::size_t k = 0; k < row.size(); ++k) {
    EXPECT_LE(std::abs(row[k] - scale * q[k]), scale * (0.5 + 1e-12));
  }
}

TEST(Quantiser, RowOfZerosHasScaleZero) {
  const float row[] = {0.0f, -0.0f, 0.0f};
  std::array<std::int8_t, 3> q{1, 2, 3};
  EXPECT_EQ(quantise_channel(row, q), 0.0f);
  EXPECT_EQ(q, (std::array<std::int8_t, 3>{0, 0, 0}));
}

TEST(Quantiser, ExtremeMagnitudesStayInBounds) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float huge = std::numeric_limits<float>::max();
  std::mt19937 random(10);
  for (const auto& row : {std::vector<float>{tiny, tiny}, std::vector<float>{300 * tiny, 200 * tiny, -tiny},
                          std::vector<float>{huge, huge}, std::vector<float>{huge, -huge, 1.0f}}) {
    std::vector<std::int8_t> q(row.size());
    const float scale = quantise_channel(row, q);
    EXPECT_TRUE(std::isfinite(scale) && scale > 0);
    EXPECT_TRUE(within_pair_bound(q));
    expect_smallest(row, scale, true, random);
  }
}

TEST(Quantiser, PairBoundIsCheckedAsDefined) {
  for (int a = -128; a <= 127; ++a) {
    for (int b = -128; b <= 127; ++b) {
      const std::int8_t q[] = {0, 0, static_cast<std::int8_t>(a), static_cast<std::int8_t>(b)};
      const bool magnitudes = std::abs(a) <= 127 && std::abs(b) <= 127;
      const bool equal_sign = (a > 0 && b > 0) || (a < 0 && b < 0);
      EXPECT_EQ(within_pair_bound(q), magnitudes && (!equal_sign || std::abs(a) + std::abs(b) <= 128))
          << a << ' ' << b;
    }
  }
  const std::int8_t odd[] = {1, 1, 127};
  EXPECT_TRUE(within_pair_bound(odd));
}

}  // namespace
}  // namespace crossbill::loader
