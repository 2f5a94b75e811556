#include "loader/quantiser.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

namespace crossbill::loader {
namespace {

constexpr int kMostMagnitude = 127;
constexpr int kMostPairSum = 128;

/// Two neighbours of equal sign (or one weight and a zero), as magnitudes.
struct Pair {
  double a = 0;
  double b = 0;
};

/// x rounded to a whole number, ties to even, for |x| < 2⁵¹. The quotient of two floats has been rounded to
/// double before, but that can't move it onto or across a tie: a quotient that isn't n+½ itself is at least
/// 2⁻³³ of its size away from it.
double round_to_even(double x) {
  constexpr double kShift = 6755399441055744.0;  // 1.5·2⁵²: adding it leaves no room for fraction bits
  return (x + kShift) - kShift;
}

bool fits(const Pair& pair, float scale) {
  const double a = round_to_even(pair.a / static_cast<double>(scale));
  const double b = round_to_even(pair.b / static_cast<double>(scale));
  return a <= kMostMagnitude && b <= kMostMagnitude && a + b <= kMostPairSum;
}

/// The smallest positive float scale for which all pairs fit.
///
/// Division and rounding are monotone, so a pair that fits at one scale fits at every larger one, and the
/// smallest fitting scale is found by bisection over the floats themselves, whose bit patterns are ordered as
/// their values are. Below max(m/127.5, s/129), with m the largest magnitude and s the largest pair sum, some
/// pair can't fit; at max(m/127, s/128) all do. Only pairs that don't fit at the lower end can decide, and
/// they are few.
float smallest_scale(std::vector<Pair>& pairs) {
  double most = 0;
  double most_sum = 0;
  for (const Pair& pair : pairs) {
    most = std::max({most, pair.a, pair.b});
    most_sum = std::max(most_sum, pair.a + pair.b);
  }
  // One float further out on either side, since the bounds themselves were rounded.
  const float low =
      static_cast<float>(std::max(most / (kMostMagnitude + 0.5), most_sum / (kMostPairSum + 1)));
  const float high = static_cast<float>(std::max(most / kMostMagnitude, most_sum / kMostPairSum));
  std::uint32_t unfit = std::max(std::bit_cast<std::uint32_t>(low), 2u) - 2;
  std::uint32_t fit = std::bit_cast<std::uint32_t>(high) + 1;
  std::erase_if(pairs,
                [&](const Pair& pair) { return unfit != 0 && fits(pair, std::bit_cast<float>(unfit)); });
  while (fit - unfit > 1) {
    const std::uint32_t middle = unfit + (fit - unfit) / 2;
    const float scale = std::bit_cast<float>(middle);
    const bool all =
        std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) { return fits(pair, scale); });
    (all ? fit : unfit) = middle;
  }
  return std::bit_cast<float>(fit);
}

float quantise(std::span<const float> row, std::span<std::int8_t> q, std::vector<Pair>& pairs) {
  const float scale = smallest_scale(pairs);
  for (std::size_t k = 0; k < row.size(); ++k) {
    q[k] = static_cast<std::int8_t>(round_to_even(static_cast<double>(row[k]) / static_cast<double>(scale)));
  }
  return scale;
}

bool all_zero(std::span<const float> row, std::span<std::int8_t> q) {
  std::fill(q.begin(), q.end(), std::int8_t{0});
  return std::all_of(row.begin(), row.end(), [](float w) { return w == 0; });
}

}  // namespace

float quantise_channel(std::span<const float> row, std::span<std::int8_t> q) {
  if (all_zero(row, q)) {
    return 0;
  }
  std::vector<Pair> pairs;
  pairs.reserve(row.size());
  for (std::size_t k = 0; k < row.size(); k += 2) {
    const double a = row[k];
    const double b = k + 1 < row.size() ? row[k + 1] : 0;
    if ((a < 0) == (b < 0)) {
      pairs.push_back({std::abs(a), std::abs(b)});
    } else {  // products of unequal sign cancel; each is bounded by itself
      pairs.push_back({std::abs(a), 0});
      pairs.push_back({std::abs(b), 0});
    }
  }
  return quantise(row, q, pairs);
}

float quantise_row(std::span<const float> row, std::span<std::int8_t> q) {
  if (all_zero(row, q)) {
    return 0;
  }
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  std::vector<Pair> pairs{{std::max(std::abs(double{*least}), std::abs(double{*most})), 0}};
  return quantise(row, q, pairs);
}

bool within_pair_bound(std::span<const std::int8_t> q) {
  for (std::size_t k = 0; k < q.size(); k += 2) {
    const int a = q[k];
    const int b = k + 1 < q.size() ? q[k + 1] : 0;
    // Of unequal sign the sum is smaller than either, so the sum alone says it.
    if (a < -kMostMagnitude || b < -kMostMagnitude || std::abs(a + b) > kMostPairSum) {
      return false;
    }
  }
  return true;
}

}  // namespace crossbill::loader
