// One Reranker, many host threads: the answers of a serial run, every time (cases T25, N16, N19). Run under
// ThreadSanitizer as well.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "crossbill/work_queue.hpp"
#include "reranker_inputs.hpp"

namespace crossbill {
namespace {

using test::bits_of;
using test::MixedPairs;

class ManyThreads : public testing::TestWithParam<std::string> {};

TEST_P(ManyThreads, GetTheAnswersOfASerialRun) {
  Options options;
  options.threads = 3;
  const Reranker reranker(GetParam(), options);
  const MixedPairs pairs(8, 25, 40);
  const auto passages = pairs.passages();
  const std::string long_text = std::string(5000, 'x') + " " + std::string(2000, '-');  // truncated

  const auto scores = bits_of(reranker.score(pairs));
  RankOptions ranking;
  ranking.label = reranker.info().labels.front();
  std::vector<std::size_t> order;
  for (const auto& hit : reranker.rank("the river", passages, ranking)) order.push_back(hit.index);
  const auto tokens = reranker.tokenize("the river", long_text).ids;

  std::atomic<int> wrong{0}, calls{0};
  const auto host = [&](unsigned number) {
    for (unsigned round = 0; round < 10; ++round, ++calls) {
      switch ((number + round) % 5) {
        case 0:
          if (bits_of(reranker.score(pairs)) != scores) ++wrong;
          break;
        case 1: {
          std::vector<std::size_t> again;
          for (const auto& hit : reranker.rank("the river", passages, ranking)) again.push_back(hit.index);
          if (again != order) ++wrong;
          break;
        }
        case 2:
          if (reranker.tokenize("the river", long_text).ids != tokens) ++wrong;
          break;
        case 3: {
          const std::size_t i = (number + round) % pairs.size();
          if (bits_of(reranker.score(pairs[i].query, pairs[i].passage)) != scores[i]) ++wrong;
          break;
        }
        default: {
          std::stop_source stop;
          auto answer = reranker.queue().submit({reranker.encode(pairs[0].query, pairs[0].passage)},
                                                {stop.get_token(), {}});
          if (bits_of(answer.get().front()) != scores[0]) ++wrong;
        }
      }
    }
  };
  std::vector<std::thread> hosts;
  for (unsigned h = 0; h < 16; ++h) hosts.emplace_back(host, h);
  for (auto& thread : hosts) thread.join();
  EXPECT_EQ(calls, 16 * 10);
  EXPECT_EQ(wrong, 0);
}

TEST_P(ManyThreads, TwoRerankersDoNotDisturbEachOther) {
  Options options;
  options.threads = 2;
  const Reranker one(GetParam(), options), other(GetParam(), options);
  const MixedPairs pairs(12, 5);
  const auto scores = bits_of(one.score(pairs));
  std::atomic<int> wrong{0};
  std::thread host([&] {
    for (int round = 0; round < 5; ++round) {
      if (bits_of(one.score(pairs)) != scores) ++wrong;
    }
  });
  for (int round = 0; round < 5; ++round) {
    if (bits_of(other.score(pairs)) != scores) ++wrong;
  }
  host.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, ManyThreads, testing::Values(test::kBundledModel, test::kThreeLabels),
                         test::model_name);

}  // namespace
}  // namespace crossbill
