// Every set's multiply-add rounds once, as libm's fmaf does; the portable set makes it from doubles.
//
// It is reached through a product with k = 2: the first step gives c·1, the second a·b + c.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace crossbill::kernels::testing {
namespace {

class FusedMultiplyAdd : public EachSet {
 protected:
  /// a·b[j] + c for sixteen b.
  void check(float a, const float (&b)[kLanes], float c) {
    const float row[2] = {c, a};
    for (std::size_t j = 0; j < kLanes; ++j) {
      panel_[j] = 1.0f;
      panel_[kLanes + j] = b[j];
    }
    set().product_f32({row, 2, panel_, nullptr, out_, kLanes, 1, kLanes, 2});
    for (std::size_t j = 0; j < kLanes; ++j) {
      const float expected = std::fma(a, b[j], c + 0.0f);  // the first step turns −0 into +0
      ASSERT_TRUE(same_bits(out_[j], expected)) << std::hexfloat << a << " * " << b[j] << " + " << c
                                                << " gave " << out_[j] << " instead of " << expected;
    }
  }

 private:
  alignas(64) float panel_[2 * kLanes];
  alignas(64) float out_[kLanes];
};
INSTANTIATE_TEST_SUITE_P(Kernels, FusedMultiplyAdd, ::testing::ValuesIn(available_kernel_sets()), set_name);

/// A float with random sign and mantissa and an exponent in [low, high]; some mantissas are short, so that
/// exact results and ties occur.
float with_exponent(Values& values, int low, int high) {
  std::uint32_t mantissa = values.bits() & 0x7fffffu;
  if (values.bits() % 2 == 0) {
    mantissa &= 0x7fffffu << (values.bits() % 24);
  }
  const float size = std::bit_cast<float>(0x3f800000u | mantissa);
  const int exponent = low + static_cast<int>(values.bits() % static_cast<std::uint32_t>(high - low + 1));
  return std::ldexp(values.bits() % 2 == 0 ? size : -size, exponent);
}

TEST_P(FusedMultiplyAdd, IsNotRoundedTwice) {
  // 24929·673 = 2²⁴ + 1 lies between two floats; only the 2⁻⁴⁰ says that it is to be rounded up, and a sum
  // rounded to double first has lost it.
  float b[kLanes];
  std::fill(std::begin(b), std::end(b), 673.0f);
  ASSERT_EQ(std::fma(24929.0f, 673.0f, 0x1p-40f), 16777218.0f);
  check(24929.0f, b, 0x1p-40f);
  check(-24929.0f, b, -0x1p-40f);
  check(24929.0f, b, -0x1p-40f);
}

TEST_P(FusedMultiplyAdd, MatchesFmafOnRandomTriples) {
  Values values(1);
  const int rounds = quick() ? 500 : 100'000;
  float b[kLanes];
  for (int round = 0; round < rounds; ++round) {
    const float a = values.any_finite();
    for (float& value : b) {
      value = values.any_finite();
    }
    ASSERT_NO_FATAL_FAILURE(check(a, b, values.any_finite()));
  }
}

TEST_P(FusedMultiplyAdd, MatchesFmafWhereTermsAreOfSimilarSize) {
  Values values(2);
  const int rounds = quick() ? 500 : 100'000;
  float b[kLanes];
  for (int round = 0; round < rounds; ++round) {
    const int shift = static_cast<int>(values.bits() % 60) - 30;
    const float a = with_exponent(values, -4, 4);
    for (float& value : b) {
      value = with_exponent(values, -4, 4);
    }
    ASSERT_NO_FATAL_FAILURE(check(a, b, with_exponent(values, shift - 2, shift + 2)));
    // And with cancellation of the leading bits.
    ASSERT_NO_FATAL_FAILURE(check(a, b, -a * b[round % kLanes]));
  }
}

TEST_P(FusedMultiplyAdd, MatchesFmafWhereResultsAreSubnormalOrOverflow) {
  Values values(3);
  const int rounds = quick() ? 500 : 100'000;
  float b[kLanes];
  for (int round = 0; round < rounds; ++round) {
    const float small = with_exponent(values, -80, -60);
    for (float& value : b) {
      value = with_exponent(values, -90, -55);
    }
    ASSERT_NO_FATAL_FAILURE(check(small, b, with_exponent(values, -149, -120)));
    const float large = with_exponent(values, 60, 66);
    for (float& value : b) {
      value = with_exponent(values, 60, 64);
    }
    ASSERT_NO_FATAL_FAILURE(check(large, b, with_exponent(values, 100, 127)));
  }
}

TEST_P(FusedMultiplyAdd, MatchesFmafOnAllTriplesOfCornerValues) {
  std::vector<float> corners = {0.0f,          1.0f,        0x1p-149f,     0x1.fffffcp-127f, 0x1p-126f,
                                0x1.000002p0f, 0x1.8p0f,    0x1.fffffep0f, 0x1p-75f,         0x1.000002p-75f,
                                0x1p24f,       16777215.0f, 0x1p63f,       0x1p64f,          0x1.fffffep127f,
                                0x1p-40f,      24929.0f,    673.0f,        kInfinity,        kNaN};
  for (std::size_t i = corners.size(); i-- > 0;) {
    corners.push_back(-corners[i]);
  }
  float b[kLanes];
  for (const float a : corners) {
    for (const float c : corners) {
      for (std::size_t first = 0; first < corners.size(); first += kLanes) {
        for (std::size_t j = 0; j < kLanes; ++j) {
          b[j] = corners[(first + j) % corners.size()];
        }
        ASSERT_NO_FATAL_FAILURE(check(a, b, c));
      }
    }
  }
}

}  // namespace
}  // namespace crossbill::kernels::testing
