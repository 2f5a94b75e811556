#include "engine/ranking.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "engine/float_environment.hpp"

namespace crossbill::engine {
namespace {

/// By its bits: with -ffast-math, which a host project may set, isnan is always false.
bool is_nan(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x7fffffffu) > 0x7f800000u;
}

}  // namespace

std::vector<std::size_t> best_first(std::span<const float> logits, std::size_t count) {
  const FloatEnvironment environment;  // with DAZ, logits below 2^-126 would all be equal
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const bool a_nan = is_nan(logits[a]), b_nan = is_nan(logits[b]);
                      if (a_nan != b_nan) return b_nan;
                      if (!a_nan && logits[a] != logits[b]) return logits[a] > logits[b];
                      return a < b;
                    });
  order.resize(count);
  return order;
}

}  // namespace crossbill::engine
