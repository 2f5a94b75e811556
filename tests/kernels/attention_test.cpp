// Attention of every kernel set: against double, against the portable set's bits, one query against many,
// between guard pages, and with scratch memory that holds NaN before.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace crossbill::kernels::testing {
namespace {

class Attention : public EachSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, Attention, ::testing::ValuesIn(available_kernel_sets()), set_name);

/// Q, K and V of one head, each an array of its own so that every one ends at a guard page.
struct Head {
  Head(std::size_t length, std::size_t head_dim, Side side = Side::end)
      : length(length),
        head_dim(head_dim),
        stride(head_dim + 7),
        side(side),
        q((length - 1) * stride + head_dim, side),
        k(q.size(), side),
        v(q.size(), side) {}

  template <typename Next>
  void fill_all(Next next) {
    fill(q.span(), next);
    fill(k.span(), next);
    fill(v.span(), next);
  }

  /// [queries][head_dim] results for the queries from `first` on.
  std::vector<float> run(const KernelSet& set, std::size_t first, std::size_t queries) const {
    constexpr float kUntouched = -12345.0f;
    const std::size_t out_stride = head_dim + 3;
    GuardedArray<float> out((queries - 1) * out_stride + head_dim, side);
    fill(out.span(), [] { return kUntouched; });
    GuardedArray<float> scratch(attention_scratch_f32(length, head_dim), side);
    fill(scratch.span(), [] { return kNaN; });
    set.attention_f32({q.data() + first * stride, k.data(), v.data(), stride, out.data(), out_stride, queries,
                       length, head_dim, scratch.data()});
    std::vector<float> result;
    for (std::size_t row = 0; row < queries; ++row) {
      const float* start = out.data() + row * out_stride;
      result.insert(result.end(), start, start + head_dim);
      for (std::size_t i = head_dim; row + 1 < queries && i < out_stride; ++i) {
        EXPECT_EQ(start[i], kUntouched) << "row " << row << " wrote past head_dim";
      }
    }
    return result;
  }
  std::vector<float> run(const KernelSet& set) const { return run(set, 0, length); }

  std::size_t length, head_dim, stride;
  Side side;
  GuardedArray<float> q, k, v;
};

std::vector<double> reference(const Head& head) {
  std::vector<double> out(head.length * head.head_dim, 0.0);
  std::vector<double> weights(head.length);
  for (std::size_t query = 0; query < head.length; ++query) {
    for (std::size_t key = 0; key < head.length; ++key) {
      weights[key] = 0.0;
      for (std::size_t d = 0; d < head.head_dim; ++d) {
        weights[key] += static_cast<double>(head.q[query * head.stride + d]) * head.k[key * head.stride + d];
      }
    }
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0.0;
    for (double& weight : weights) {
      weight = std::exp(weight - most);
      sum += weight;
    }
    for (std::size_t key = 0; key < head.length; ++key) {
      for (std::size_t d = 0; d < head.head_dim; ++d) {
        out[query * head.head_dim + d] += weights[key] / sum * head.v[key * head.stride + d];
      }
    }
  }
  return out;
}

std::vector<std::size_t> lengths() {
  return quick() ? std::vector<std::size_t>{1, 2, 16, 17, 33}
                 : std::vector<std::size_t>{1, 2, 3, 15, 16, 17, 24, 25, 33, 48, 64, 100, 129, 200};
}
constexpr std::size_t kHeadDims[] = {1, 10, 16, 26, 32, 64};

TEST_P(Attention, IsCloseToDouble) {
  Values values(1);
  for (const std::size_t length : lengths()) {
    for (const std::size_t head_dim : kHeadDims) {
      Head head(length, head_dim);
      head.fill_all([&] { return values.unit() * 1.5f; });
      const std::vector<float> out = head.run(set());
      const std::vector<double> expected = reference(head);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(out[i], expected[i], 1e-5)
            << "length " << length << ", head_dim " << head_dim << " at " << i;
      }
    }
  }
}

TEST_P(Attention, HasThePortableBits) {
  Values values(2);
  for (const std::size_t length : lengths()) {
    for (const std::size_t head_dim : kHeadDims) {
      for (const Side side : {Side::end, Side::start}) {
        Head head(length, head_dim, side);
        head.fill_all([&] { return values.mixed(); });
        // One huge value makes infinities and NaN, the same ones in every set.
        ASSERT_TRUE(same_bits(head.run(set()), head.run(portable())))
            << "length " << length << ", head_dim " << head_dim;
      }
    }
  }
}

TEST_P(Attention, HasThePortableBitsForTheLongestPairs) {
  Values values(3);
  for (const std::size_t length :
       quick() ? std::vector<std::size_t>{130} : std::vector<std::size_t>{511, 512, 700}) {
    Head head(length, 32);
    head.fill_all([&] { return values.unit(); });
    ASSERT_TRUE(same_bits(head.run(set(), 0, 30), head.run(portable(), 0, 30))) << length;
  }
}

TEST_P(Attention, RowsDontDependOnTheBlockTheyAreIn) {
  Values values(4);
  const std::size_t length = 70;
  Head head(length, 26);
  head.fill_all([&] { return values.unit(); });
  const std::vector<float> all = head.run(set());
  for (std::size_t first = 0; first < length; ++first) {
    // [CLS] alone is the case first = 0.
    ASSERT_TRUE(same_bits(head.run(set(), first, 1), std::span(all).subspan(first * 26, 26))) << first;
  }
  ASSERT_TRUE(same_bits(head.run(set(), 3, 29), std::span(all).subspan(3 * 26, 29 * 26)));
}

TEST_P(Attention, FarScoresGetNoWeightAndLargeOnesDontOverflow) {
  Head head(40, 16);
  fill(head.q.span(), [] { return 0.0f; });
  fill(head.k.span(), [] { return 0.0f; });
  for (std::size_t token = 0; token < 40; ++token) {
    head.q[token * head.stride] = 1000.0f;
    head.k[token * head.stride] = token == 21 ? 1.0f : 0.0f;  // scores 1000 and 0
    for (std::size_t d = 0; d < 16; ++d) {
      head.v[token * head.stride + d] = static_cast<float>(token);
    }
  }
  for (const float value : head.run(set())) {
    EXPECT_EQ(value, 21.0f);
  }
}

TEST_P(Attention, EqualScoresGiveTheMean) {
  Values values(5);
  Head head(16, 10);  // a power of two, so that the mean of ones and twos is exact
  head.fill_all([] { return 0.0f; });
  for (std::size_t token = 0; token < 16; ++token) {
    for (std::size_t d = 0; d < 10; ++d) {
      head.v[token * head.stride + d] = token % 2 == 0 ? 1.0f : 2.0f;
    }
  }
  for (const float value : head.run(set())) {
    EXPECT_EQ(value, 1.5f);
  }
}

// cases.md N17: tiny activations; results are right without denormals being flushed.
TEST_P(Attention, DenormalInputsGiveThePortableBits) {
  Values values(6);
  Head head(33, 32);
  head.fill_all([&] { return values.unit() * 1e-40f; });
  EXPECT_TRUE(same_bits(head.run(set()), head.run(portable())));
}

TEST_P(Attention, NanQueryStaysInItsRow) {
  Values values(7);
  Head head(30, 32);
  head.fill_all([&] { return values.unit(); });
  const std::vector<float> clean = head.run(set());
  head.q[11 * head.stride + 4] = kNaN;
  const std::vector<float> result = head.run(set());
  for (std::size_t row = 0; row < 30; ++row) {
    for (std::size_t d = 0; d < 32; ++d) {
      if (row == 11) {
        EXPECT_TRUE(std::isnan(result[row * 32 + d]));
      } else {
        EXPECT_TRUE(same_bits(result[row * 32 + d], clean[row * 32 + d]));
      }
    }
  }
}

TEST(AttentionScratch, GrowsLinearlyWithTheLength) {
  const std::size_t at_512 = attention_scratch_f32(512, 32);
  EXPECT_EQ(at_512 % kLanes, 0u);
  EXPECT_LE(attention_scratch_f32(1024, 32), 2 * at_512);
  EXPECT_LE(at_512 * sizeof(float), 256u * 1024);
}

}  // namespace
}  // namespace crossbill::kernels::testing
