// How pairs are put together into chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "engine/chunks.hpp"

namespace crossbill::engine {
namespace {

std::vector<std::vector<std::size_t>> chunks_of(const ChunkPlan& plan) {
  std::vector<std::vector<std::size_t>> chunks;
  for (std::size_t c = 0; c < plan.chunks(); ++c) {
    chunks.emplace_back(plan.pairs(c).begin(), plan.pairs(c).end());
  }
  return chunks;
}

using Chunks = std::vector<std::vector<std::size_t>>;

TEST(Chunks, OfNoPairsThereAreNone) {
  EXPECT_EQ(plan_chunks({}, 4, 512).chunks(), 0u);
}

TEST(Chunks, GoLongestFirstAndTiesByIndex) {
  const std::vector<std::size_t> lengths = {10, 40, 20, 40, 10};
  EXPECT_EQ(plan_chunks(lengths, 1, 512).order, (std::vector<std::size_t>{1, 3, 2, 0, 4}));
}

TEST(Chunks, OneThreadFillsThemToTheLimit) {
  const std::vector<std::size_t> lengths = {300, 200, 200, 12, 13};
  EXPECT_EQ(chunks_of(plan_chunks(lengths, 1, 512)), (Chunks{{0, 1}, {2, 4, 3}}));
}

TEST(Chunks, OfAShortInputGiveEachThreadSeveral) {
  const std::vector<std::size_t> lengths(64, 10);  // 640 tokens, two threads: 80 tokens a chunk
  const ChunkPlan plan = plan_chunks(lengths, 2, 512);
  EXPECT_EQ(plan.chunks(), 8u);
  for (std::size_t c = 0; c < plan.chunks(); ++c) EXPECT_EQ(plan.pairs(c).size(), 8u);
}

TEST(Chunks, HaveAtLeastOnePairHoweverLong) {
  const std::vector<std::size_t> lengths = {600, 512, 513};
  EXPECT_EQ(chunks_of(plan_chunks(lengths, 3, 512)), (Chunks{{0}, {2}, {1}}));
  const std::vector<std::size_t> two = {5, 5};
  EXPECT_EQ(chunks_of(plan_chunks(two, 100, 512)), (Chunks{{0}, {1}}));
}

TEST(Chunks, HoldEveryPairOnceAndNeverExceedTheLimit) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> lengths(random() % 300);
    for (auto& length : lengths) length = 3 + random() % 510;
    const int threads = 1 + static_cast<int>(random() % 16);
    const std::size_t limit = 64 + random() % 600;
    const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    const ChunkPlan plan = plan_chunks(lengths, threads, limit);
    std::vector<std::size_t> seen;
    for (std::size_t c = 0; c < plan.chunks(); ++c) {
      std::size_t tokens = 0;
      for (const std::size_t pair : plan.pairs(c)) {
        seen.push_back(pair);
        tokens += lengths[pair];
      }
      ASSERT_GE(plan.pairs(c).size(), 1u);
      if (plan.pairs(c).size() > 1) {
        ASSERT_LE(tokens, limit);
        if (threads > 1) {
          ASSERT_LE(tokens, total / (4 * static_cast<std::size_t>(threads)));
        }
      }
    }
    std::sort(seen.begin(), seen.end());
    std::vector<std::size_t> all(lengths.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    ASSERT_EQ(seen, all);
  }
}

}  // namespace
}  // namespace crossbill::engine
