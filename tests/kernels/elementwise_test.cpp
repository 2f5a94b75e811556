// Element-wise functions: error against double-precision libm over dense grids of bit patterns, the portable
// set's bits from every other set, special values, and tails against guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace crossbill::kernels::testing {
namespace {

class Elementwise : public EachSet {
 protected:
  /// f(x) of the set under test for one value.
  float apply(void (*KernelSet::*function)(float*, std::size_t), float x) const {
    (set().*function)(&x, 1);
    return x;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, Elementwise, ::testing::ValuesIn(available_kernel_sets()), set_name);

using Function = void (*KernelSet::*)(float*, std::size_t);

struct Named {
  const char* name;
  Function function;
};
constexpr Named kFunctions[] = {
    {"gelu_erf", &KernelSet::gelu_erf_f32}, {"gelu_tanh", &KernelSet::gelu_tanh_f32},
    {"relu", &KernelSet::relu_f32},         {"tanh", &KernelSet::tanh_f32},
    {"sigmoid", &KernelSet::sigmoid_f32},   {"exp", &KernelSet::exp_f32},
};

/// Calls visit(inputs) for blocks of floats in [low, high], taking every `step`-th bit pattern.
template <typename Visit>
void for_grid(float low, float high, Visit visit) {
  const std::uint32_t step = quick() ? 1'000'003 : 97;
  std::vector<float> block;
  for (const std::uint32_t sign : {0u, 0x80000000u}) {
    const float limit = sign == 0 ? high : -low;  // largest size on this side of zero
    for (std::uint32_t size = 0; size < 0x7f800000u; size += step) {
      const float x = std::bit_cast<float>(size | sign);
      if (std::fabs(x) > limit) {
        break;
      }
      if (x >= low && x <= high) {
        block.push_back(x);
      }
      if (block.size() == 4096) {
        visit(block);
        block.clear();
      }
    }
  }
  visit(block);
}

/// Largest error over a grid as a multiple of what is allowed, and where it is.
struct Worst {
  double share = 0.0;
  float at = 0.0f;
};

template <typename Reference, typename Allowed>
Worst worst_error(void (*function)(float*, std::size_t), float low, float high, Reference reference,
                  Allowed allowed) {
  Worst worst;
  std::vector<float> results;
  for_grid(low, high, [&](const std::vector<float>& inputs) {
    results = inputs;
    function(results.data(), results.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double expected = reference(static_cast<double>(inputs[i]));
      const double error = std::fabs(static_cast<double>(results[i]) - expected);
      const double share = error / allowed(expected);
      if (!(share <= worst.share)) {  // a NaN counts as the worst
        worst = {share, inputs[i]};
      }
    }
  });
  return worst;
}

auto ulps(double count) {
  return [count](double expected) { return count * ulp_at(expected); };
}
/// 2e-7, or so many ulp where that is more.
auto absolute_or_ulps(double count) {
  return [count](double expected) { return std::max(2e-7, count * ulp_at(expected)); };
}

double exact_gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::numbers::sqrt2 / 2);
}
double tanh_gelu(double x) {
  const double u = std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1.0 + std::exp(-2.0 * u));
}
double logistic(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

TEST_P(Elementwise, ExpIsWithinTwoUlp) {
  const Worst worst = worst_error(
      set().exp_f32, -64.0f, 88.72283f, [](double x) { return std::exp(x); }, ulps(2.0));
  EXPECT_LE(worst.share, 1.0) << std::hexfloat << worst.at;
}

TEST_P(Elementwise, ExpNeverGivesDenormals) {
  EXPECT_GT(apply(&KernelSet::exp_f32, -64.0f), 0.0f);
  for (const float x : {std::nextafter(-64.0f, -65.0f), -70.0f, -87.5f, -100.0f, -1e30f, -kInfinity}) {
    EXPECT_TRUE(same_bits(apply(&KernelSet::exp_f32, x), 0.0f)) << x;
  }
  EXPECT_EQ(apply(&KernelSet::exp_f32, 88.8f), kInfinity);
  EXPECT_EQ(apply(&KernelSet::exp_f32, 1e30f), kInfinity);
  EXPECT_EQ(apply(&KernelSet::exp_f32, kInfinity), kInfinity);
  EXPECT_EQ(apply(&KernelSet::exp_f32, 0.0f), 1.0f);
}

TEST_P(Elementwise, TanhIsWithinTwoUlpNearZeroToo) {
  const Worst worst = worst_error(
      set().tanh_f32, -100.0f, 100.0f, [](double x) { return std::tanh(x); }, ulps(2.0));
  EXPECT_LE(worst.share, 1.0) << std::hexfloat << worst.at;
  EXPECT_TRUE(same_bits(apply(&KernelSet::tanh_f32, -0.0f), -0.0f));
  EXPECT_TRUE(same_bits(apply(&KernelSet::tanh_f32, -0x1p-149f), -0x1p-149f));
  EXPECT_EQ(apply(&KernelSet::tanh_f32, kInfinity), 1.0f);
  EXPECT_EQ(apply(&KernelSet::tanh_f32, -kInfinity), -1.0f);
}

TEST_P(Elementwise, SigmoidIsWithinThreeUlpDownToTheSmallestNormal) {
  const Worst worst = worst_error(set().sigmoid_f32, -87.3f, 200.0f, logistic, ulps(3.0));
  EXPECT_LE(worst.share, 1.0) << std::hexfloat << worst.at;
}

TEST_P(Elementwise, SigmoidStaysBetweenZeroAndOne) {
  std::vector<float> results;
  for_grid(-1e30f, 1e30f, [&](const std::vector<float>& inputs) {
    results = inputs;
    set().sigmoid_f32(results.data(), results.size());
    const auto [least, most] = std::minmax_element(results.begin(), results.end());
    if (!results.empty()) {
      ASSERT_GE(*least, 0.0f);
      ASSERT_LE(*most, 1.0f);
    }
  });
  EXPECT_EQ(apply(&KernelSet::sigmoid_f32, 0.0f), 0.5f);
  EXPECT_EQ(apply(&KernelSet::sigmoid_f32, kInfinity), 1.0f);
  EXPECT_EQ(apply(&KernelSet::sigmoid_f32, -kInfinity), 0.0f);
}

TEST_P(Elementwise, ExactGeluIsWithin2e7OrOneUlp) {
  const Worst worst = worst_error(set().gelu_erf_f32, -100.0f, 1000.0f, exact_gelu, absolute_or_ulps(1.0));
  EXPECT_LE(worst.share, 1.0) << std::hexfloat << worst.at;
  EXPECT_EQ(apply(&KernelSet::gelu_erf_f32, kInfinity), kInfinity);
  EXPECT_EQ(apply(&KernelSet::gelu_erf_f32, -kInfinity), 0.0f);
  EXPECT_EQ(apply(&KernelSet::gelu_erf_f32, 3e38f), 3e38f);
}

TEST_P(Elementwise, TanhGeluIsWithin2e7OrTwoUlp) {
  const Worst worst = worst_error(set().gelu_tanh_f32, -1000.0f, 1000.0f, tanh_gelu, absolute_or_ulps(2.0));
  EXPECT_LE(worst.share, 1.0) << std::hexfloat << worst.at;
  EXPECT_EQ(apply(&KernelSet::gelu_tanh_f32, kInfinity), kInfinity);
  EXPECT_EQ(apply(&KernelSet::gelu_tanh_f32, -kInfinity), 0.0f);
  EXPECT_EQ(apply(&KernelSet::gelu_tanh_f32, 3e38f), 3e38f);
}

// cases.md N4: the two forms differ by up to 4.7e-4 and must not be mistaken for each other.
TEST_P(Elementwise, GeluFormsAreTheOnesTheirNamesSay) {
  struct Case {
    float x;
    double exact, tanh_form;
  };
  for (const Case& c :
       {Case{-2.7f, -0.009360829, -0.008887595}, Case{-1.0f, -0.158655254, -0.158808009},
        Case{0.0f, 0.0, 0.0}, Case{1.0f, 0.841344746, 0.841191991}, Case{2.7f, 2.690639171, 2.691112405}}) {
    EXPECT_NEAR(apply(&KernelSet::gelu_erf_f32, c.x), c.exact, 3e-7) << c.x;
    EXPECT_NEAR(apply(&KernelSet::gelu_tanh_f32, c.x), c.tanh_form, 3e-7) << c.x;
  }
}

TEST_P(Elementwise, ReluIsExact) {
  EXPECT_EQ(apply(&KernelSet::relu_f32, 1.5f), 1.5f);
  EXPECT_EQ(apply(&KernelSet::relu_f32, -1.5f), 0.0f);
  EXPECT_EQ(apply(&KernelSet::relu_f32, 0x1p-149f), 0x1p-149f);
  EXPECT_EQ(apply(&KernelSet::relu_f32, -kInfinity), 0.0f);
  EXPECT_EQ(apply(&KernelSet::relu_f32, kInfinity), kInfinity);
}

TEST_P(Elementwise, KeepsNan) {
  for (const Named& named : kFunctions) {
    EXPECT_TRUE(std::isnan(apply(named.function, kNaN))) << named.name;
    EXPECT_TRUE(std::isnan(apply(named.function, -kNaN))) << named.name;
  }
}

TEST_P(Elementwise, HasThePortableBitsForEveryKindOfFloat) {
  const std::uint32_t step = quick() ? 9'000'011 : 4'001;
  std::vector<float> inputs;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += step) {
    inputs.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (const Named& named : kFunctions) {
    std::vector<float> actual = inputs;
    std::vector<float> expected = inputs;
    (set().*named.function)(actual.data(), actual.size());
    (portable().*named.function)(expected.data(), expected.size());
    EXPECT_TRUE(same_bits(actual, expected)) << named.name;
  }
}

TEST_P(Elementwise, TailsTouchNothingBeyondAndHaveTheBitsOfWholeGroups) {
  Values values(1);
  for (const Named& named : kFunctions) {
    for (std::size_t n = 1; n <= 49; ++n) {
      for (const Side side : {Side::end, Side::start}) {
        GuardedArray<float> x(n, side);
        fill(x.span(), [&] { return values.unit() * 8.0f; });
        std::vector<float> expected(x.span().begin(), x.span().end());
        for (float& value : expected) {
          float group[kLanes] = {value};
          (portable().*named.function)(group, kLanes);
          value = group[0];
        }
        (set().*named.function)(x.data(), n);
        ASSERT_TRUE(same_bits(x.span(), expected)) << named.name << " of " << n;
      }
    }
  }
}

}  // namespace
}  // namespace crossbill::kernels::testing
