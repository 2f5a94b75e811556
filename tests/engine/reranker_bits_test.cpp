// A score doesn't depend on what is scored beside it, in which order, in which chunks, by how many threads,
// how often, or on what the host program has set: the same bits every time (cases N16, N19, P7).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "crossbill/work_queue.hpp"
#include "host_float_state.hpp"
#include "reranker_inputs.hpp"

namespace crossbill {
namespace {

using test::bits_of;
using test::MixedPairs;

Options with_threads(int threads) {
  Options options;
  options.threads = threads;
  return options;
}

class SameBits : public testing::TestWithParam<std::string> {
 protected:
  const MixedPairs pairs_{50, 16};
  const Reranker one_thread_{GetParam(), with_threads(1)};
  const std::vector<std::vector<std::uint32_t>> expected_ = bits_of(one_thread_.score(pairs_));
};

TEST_P(SameBits, AloneAsInABatch) {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    EXPECT_EQ(bits_of(one_thread_.score(pairs_[i].query, pairs_[i].passage)), expected_[i]) << i;
  }
}

TEST_P(SameBits, InBatchesOfAnySize) {
  const std::span<const Pair> all = pairs_;
  for (const std::size_t size : {8u, 32u}) {
    for (std::size_t first = 0; first < all.size(); first += size) {
      const auto part = all.subspan(first, std::min(size, all.size() - first));
      const auto scores = one_thread_.score(part);
      for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(bits_of(scores[i]), expected_[first + i]);
    }
  }
}

TEST_P(SameBits, InAnyOrder) {
  std::vector<std::size_t> order(pairs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  std::vector<Pair> shuffled;
  for (const std::size_t i : order) shuffled.push_back(pairs_[i]);
  const auto scores = one_thread_.score(shuffled);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(bits_of(scores[i]), expected_[order[i]]);
}

TEST_P(SameBits, WithAnyNumberOfThreads) {
  for (const int threads : {2, 3, 8}) {
    const Reranker reranker(GetParam(), with_threads(threads));
    EXPECT_EQ(reranker.info().threads, threads);
    EXPECT_EQ(bits_of(reranker.score(pairs_)), expected_) << threads;
  }
}

TEST_P(SameBits, InTheSmallestChunksThatABudgetAllows) {
  Options options = with_threads(2);
  options.memory_budget = 1;
  const std::string error = test::error_of([&] { Reranker(GetParam(), options); });
  const std::string before = "at least ", after = " are needed";
  const std::size_t begin = error.find(before) + before.size();
  ASSERT_NE(error.find(after), std::string::npos) << error;
  options.memory_budget = std::stoul(error.substr(begin, error.find(after) - begin));
  EXPECT_EQ(bits_of(Reranker(GetParam(), options).score(pairs_)), expected_);
  --options.memory_budget;
  EXPECT_NE(test::error_of([&] { Reranker(GetParam(), options); }), "nothing was thrown");
}

TEST_P(SameBits, EncodedElsewhereOrSubmittedToTheQueue) {
  std::vector<EncodedPair> encoded;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    encoded.push_back(one_thread_.encode(pairs_[i].query, pairs_[i].passage));
  }
  EXPECT_EQ(bits_of(one_thread_.score(encoded)), expected_);
  EXPECT_EQ(bits_of(one_thread_.queue().submit(encoded).get()), expected_);
  EXPECT_EQ(one_thread_.queue().backlog().pairs, 0u);
}

TEST_P(SameBits, TheFirstTimeAndTheTenth) {
  const Reranker fresh(GetParam(), with_threads(2));
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(bits_of(fresh.score(std::span<const Pair>(pairs_).first(10))),
              std::vector(expected_.begin(), expected_.begin() + 10));
  }
}

TEST_P(SameBits, WhateverFloatingPointStateTheHostHasSet) {
  for (const auto& state : engine::test::host_float_states()) {
    const engine::test::WithHostFloatState host(state);
    const auto before = engine::test::float_state();
    for (const int threads : {1, 2}) {
      const Reranker reranker(GetParam(), with_threads(threads));  // opened in that state as well
      EXPECT_EQ(engine::test::float_state(), before) << "opening, " << state.name;
      EXPECT_EQ(bits_of(reranker.score(std::span<const Pair>(pairs_).first(10))),
                std::vector(expected_.begin(), expected_.begin() + 10))
          << state.name;
      EXPECT_EQ(engine::test::float_state(), before) << "scoring, " << state.name;
      RankOptions ranking;
      ranking.label = reranker.info().labels.front();
      reranker.rank("river", pairs_.passages(), ranking);
      EXPECT_EQ(engine::test::float_state(), before) << "ranking, " << state.name;
    }
  }
}

TEST_P(SameBits, InAForkedChild) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer can't follow threads that a forked child starts";
#endif
  const Reranker reranker(GetParam(), with_threads(3));
  EXPECT_EQ(bits_of(reranker.score(pairs_)), expected_);
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(bits_of(reranker.score(pairs_)) == expected_ ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, SameBits,
                         testing::Values(test::kBundledModel, test::kTinyModel, test::kThreeLabels),
                         test::model_name);

}  // namespace
}  // namespace crossbill
