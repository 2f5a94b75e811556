#include "loader/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace crossbill::loader {
namespace {

/// The value of a finite binary16 as the standard defines it.
double f16_value(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, WidensEveryFiniteF16Exactly) {
  for (unsigned half = 0; half < 0x10000; ++half) {
    if ((half & 0x7c00) != 0x7c00) {
      const float widened = f16_to_f32(static_cast<std::uint16_t>(half));
      ASSERT_EQ(static_cast<double>(widened), f16_value(static_cast<std::uint16_t>(half))) << half;
      ASSERT_EQ(std::signbit(widened), (half & 0x8000) != 0) << half;
    }
  }
}

TEST(Half, KeepsInfinitiesAndNans) {
  EXPECT_EQ(f16_to_f32(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(f16_to_f32(0xfc00), -std::numeric_limits<float>::infinity());
  for (unsigned half = 0x7c01; half < 0x8000; ++half) {
    ASSERT_TRUE(std::isnan(f16_to_f32(static_cast<std::uint16_t>(half))));
    ASSERT_TRUE(std::isnan(f16_to_f32(static_cast<std::uint16_t>(half | 0x8000))));
  }
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, NarrowsEveryF16ValueToItself) {
  for (unsigned half = 0; half < 0x10000; ++half) {
    if ((half & 0x7c00) != 0x7c00 || (half & 0x3ff) == 0) {
      ASSERT_EQ(f32_to_f16(f16_to_f32(static_cast<std::uint16_t>(half))), half);
    }
  }
}

// Between two neighbours of f16 there is one tie; it goes to the even one, its neighbours in f32 don't.
TEST(Half, RoundsToNearestTiesToEven) {
  for (unsigned half = 0; half < 0x7bff; ++half) {
    const double low = f16_value(static_cast<std::uint16_t>(half));
    const double high = f16_value(static_cast<std::uint16_t>(half + 1));
    const auto tie = static_cast<float>((low + high) / 2);  // exact: eleven bits and one more
    ASSERT_EQ(f32_to_f16(tie), half % 2 == 0 ? half : half + 1) << half;
    ASSERT_EQ(f32_to_f16(std::nextafter(tie, 0.0f)), half) << half;
    ASSERT_EQ(f32_to_f16(std::nextafter(tie, 1e9f)), half + 1) << half;
    ASSERT_EQ(f32_to_f16(-tie), (half % 2 == 0 ? half : half + 1) | 0x8000) << half;
  }
}

TEST(Half, OverflowsToInfinityWhereTheStandardSaysSo) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xfc00);
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Half, WidensBf16AsTheUpperHalfOfF32) {
  EXPECT_EQ(bf16_to_f32(0x3f80), 1.0f);
  EXPECT_EQ(bf16_to_f32(0xc049), -3.140625f);
  EXPECT_EQ(bf16_to_f32(0x0001), std::ldexp(1.0f, -133));
  EXPECT_EQ(bf16_to_f32(0xff80), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(bf16_to_f32(0x7fc0)));
}

}  // namespace
}  // namespace crossbill::loader
