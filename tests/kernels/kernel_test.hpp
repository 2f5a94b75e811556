// What the kernel tests share: a fixture that runs a test once per kernel set of this machine, inputs, and
// comparison of bits.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ios>
#include <iterator>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"
#include "kernels/kernel_set.hpp"
#include "tests/kernels/guarded_array.hpp"

namespace crossbill::kernels::testing {

/// Runs each test for every set that this machine has, called through its own table, not through dispatch.
class EachSet : public ::testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
};

inline std::string set_name(const ::testing::TestParamInfo<const KernelSet*>& info) {
  return info.param->name;
}

/// The set that all others are compared with.
inline const KernelSet& portable() {
  return *built_kernel_sets().front();
}

/// Whether to take few and small cases: set where an emulator runs the tests.
inline bool quick() {
  return std::getenv("CROSSBILL_TEST_QUICK") != nullptr;
}

/// Deterministic values, the same with every standard library.
class Values {
 public:
  explicit Values(std::uint32_t seed) : engine_(seed) {}

  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }
  /// Evenly distributed in [−1, 1).
  float unit() { return static_cast<float>(static_cast<std::int32_t>(bits())) * 0x1p-31f; }
  /// Any finite float: every exponent equally often, denormals and zeros included.
  float any_finite() {
    while (true) {
      const float value = std::bit_cast<float>(bits());
      if (std::isfinite(value)) {
        return value;
      }
    }
  }
  /// Mostly ordinary values, and among them zeros of both signs, denormals and very large and small ones.
  float mixed() {
    static constexpr float kCorners[] = {0.0f,       -0.0f,       1.0f,   -1.0f,   0x1p-149f,
                                         -0x1p-149f, 0x1.8p-130f, 1e-40f, -1e-38f, 0x1p-126f,
                                         1e10f,      -1e10f,      1e-20f, 65504.0f};
    const std::uint32_t choice = bits() % 64;
    return choice < std::size(kCorners) ? kCorners[choice] : unit();
  }

 private:
  std::mt19937 engine_;
};

template <typename Fill>
void fill(std::span<float> values, Fill next) {
  for (float& value : values) {
    value = next();
  }
}

/// The same bits, or both NaN: which NaN an operation gives isn't promised.
inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Index of the first element whose bits differ, as a message; success if there is none.
inline ::testing::AssertionResult same_bits(std::span<const float> actual, std::span<const float> expected) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure() << actual.size() << " values instead of " << expected.size();
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!same_bits(actual[i], expected[i])) {
      return ::testing::AssertionFailure() << "value " << i << " of " << actual.size() << " is "
                                           << std::hexfloat << actual[i] << " instead of " << expected[i];
    }
  }
  return ::testing::AssertionSuccess();
}

/// Distance between neighbouring floats at `value`.
inline double ulp_at(double value) {
  const double size = std::fabs(value);
  return size < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(size) - 23);
}

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace crossbill::kernels::testing
