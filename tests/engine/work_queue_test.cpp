// Pairs in, scores out: the scorer below Reranker and WorkQueue, on a forward pass whose logits are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "crossbill/error.hpp"
#include "engine/scorer.hpp"
#include "engine/text_scoring.hpp"
#include "fake_pass.hpp"

namespace crossbill::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::fake_pair;
using test::fake_scorer;
using test::FakePass;

std::vector<EncodedPair> mixed_pairs(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<EncodedPair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back(fake_pair(1 + random() % 128, static_cast<std::int32_t>(random() % 1000)));
  }
  return pairs;
}

void expect_scores_of(std::span<const EncodedPair> pairs, std::span<const Score> scores,
                      std::size_t labels = 1) {
  ASSERT_EQ(scores.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(scores[i].logits.size(), labels);
    for (std::size_t l = 0; l < labels; ++l) {
      ASSERT_EQ(scores[i].logits[l], FakePass::logit(pairs[i].ids, l)) << i;
    }
    ASSERT_EQ(scores[i].tokens, static_cast<std::int32_t>(pairs[i].ids.size()));
    ASSERT_EQ(scores[i].truncated, pairs[i].truncated);
  }
}

/// The sentence of the Error that `call` throws, after "code: ".
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "nothing was thrown";
}

TEST(WorkQueue, GivesEachPairItsOwnScoreInInputOrder) {
  for (const int threads : {1, 2, 3, 8}) {
    const auto scorer = fake_scorer(threads, {}, 2);
    for (const std::size_t count : {0u, 1u, 5u, 300u}) {
      const auto pairs = mixed_pairs(count, 1);
      std::vector<Score> scores(count);
      scorer->score(pairs, scores, {});
      expect_scores_of(pairs, scores, 2);
      const auto answer = scorer->submit(pairs, {}).get();
      expect_scores_of(pairs, answer, 2);
    }
  }
}

TEST(WorkQueue, AppliesTheActivationToValuesAndLeavesLogits) {
  const auto scorer = fake_scorer(2, {}, 1, 0, Activation::sigmoid);
  const auto scores = scorer->submit({fake_pair(1, 0), fake_pair(1, 7)}, {}).get();
  EXPECT_EQ(scores[0].logits, std::vector{0.0f});
  EXPECT_EQ(scores[0].values, std::vector{0.25f});
  EXPECT_EQ(scores[1].logits, std::vector{7.0f});
  EXPECT_EQ(scores[1].score(), 1.0f);
}

TEST(WorkQueue, ChunksKeepWithinTheMemoryBudget) {
  const int threads = 3;
  for (const std::size_t tokens : {128u, 200u, 511u, 4000u}) {
    std::atomic<std::size_t> largest{0};
    const auto watch = [&](const PackedBatch& batch) {
      for (std::size_t seen = largest; batch.tokens() > seen;) {
        if (largest.compare_exchange_weak(seen, batch.tokens())) break;
      }
    };
    const auto scorer = fake_scorer(threads, watch, 1, tokens * FakePass::kBytesPerToken * threads);
    const auto pairs = mixed_pairs(1000, 3);
    std::vector<Score> scores(pairs.size());
    scorer->score(pairs, scores, {});
    expect_scores_of(pairs, scores);
    EXPECT_LE(largest, std::min<std::size_t>(tokens, kChunkTokens));
    EXPECT_GT(largest, 64u);
  }
}

TEST(WorkQueue, ATooSmallBudgetSaysWhatWouldDo) {
  EXPECT_EQ(error_of([] { fake_scorer(2, {}, 1, 255'999); }),
            "invalid_argument: memory_budget is 255999 bytes; with 2 threads and max_length 128 at least "
            "256000 are needed");
  EXPECT_NO_THROW(fake_scorer(2, {}, 1, 256'000));
}

TEST(WorkQueue, APairBeyondTheBudgetIsRefusedByIndex) {
  const auto scorer = fake_scorer(1, {}, 1, 128'000);
  EXPECT_EQ(error_of([&] {
              scorer->submit({fake_pair(128), fake_pair(129)}, {});
            }),
            "invalid_argument: pair 1: it has 129 tokens, which take 129000 bytes; memory_budget leaves each "
            "thread 128000");
}

TEST(WorkQueue, PairsThatTheModelCannotTakeAreRefusedByIndex) {
  const auto scorer = fake_scorer(1);
  const auto error_with = [&](EncodedPair bad) {
    return error_of([&] { scorer->submit({fake_pair(3), fake_pair(4), std::move(bad)}, {}); });
  };
  EXPECT_EQ(error_with({}), "invalid_argument: pair 2: it has no tokens; at least [CLS] is needed");
  EXPECT_EQ(
      error_with({{1, 1000}, {0, 0}, false}),
      "invalid_argument: pair 2: token 1 has the id 1000; the model's vocabulary has ids from 0 to 999");
  EXPECT_EQ(error_with({{-1}, {0}, false}),
            "invalid_argument: pair 2: token 0 has the id -1; the model's vocabulary has ids from 0 to 999");
  EXPECT_EQ(error_with({{1}, {2}, false}),
            "invalid_argument: pair 2: token 0 has the type id 2; the model has 2 token types");
  EXPECT_EQ(
      error_with({{1, 2}, {0}, false}),
      "invalid_argument: pair 2: it has 2 ids and 1 type ids; there must be as many of the one as of the "
      "other");
  EXPECT_EQ(error_with(fake_pair(513)),
            "invalid_argument: pair 2: it has 513 tokens; the model has positions for 512");
  EXPECT_NO_THROW(scorer->submit({fake_pair(512)}, {}).get());
}

TEST(WorkQueue, AFailureInAWorkerReachesTheSubmitterAndLosesNothingElse) {
  const auto poisoned = [](const PackedBatch& batch) {
    if (std::count(batch.token_ids.begin(), batch.token_ids.end(), 999) > 0) throw std::bad_alloc();
  };
  const auto scorer = fake_scorer(2, poisoned);
  const std::vector<EncodedPair> sound(200, fake_pair(100, 5));
  auto good = scorer->submit(sound, {});
  auto bad = scorer->submit({fake_pair(20), fake_pair(1, 999)}, {});
  EXPECT_THROW(bad.get(), std::bad_alloc);
  expect_scores_of(sound, good.get());
  std::vector<Score> scores(sound.size());
  scorer->score(sound, scores, {});
  expect_scores_of(sound, scores);
}

TEST(WorkQueue, AShortSubmissionIsNotStuckBehindALongOne) {
  std::latch short_submitted(1);
  std::atomic<bool> first{true};
  std::atomic<int> long_chunks{0}, long_chunks_before_short{-1};
  const auto watch = [&](const PackedBatch& batch) {
    if (first.exchange(false)) short_submitted.wait();
    if (batch.pairs() == 1 && batch.length(0) == 1) {
      long_chunks_before_short = long_chunks.load();
    } else {
      ++long_chunks;
    }
  };
  const auto scorer = fake_scorer(1, watch);
  auto long_answer = scorer->submit(std::vector<EncodedPair>(100, fake_pair(512)), {});
  auto short_answer = scorer->submit({fake_pair(1)}, {});
  short_submitted.count_down();
  short_answer.get();
  EXPECT_EQ(long_answer.get().size(), 100u);
  EXPECT_EQ(long_chunks, 100);
  EXPECT_LE(long_chunks_before_short, 2);
}

TEST(WorkQueue, AStopEndsASubmissionBetweenChunksAndFreesTheBacklog) {
  std::stop_source stop;
  std::atomic<int> chunks{0};
  const auto scorer = fake_scorer(1, [&](const PackedBatch&) {
    if (++chunks == 3) stop.request_stop();
  });
  auto answer = scorer->submit(std::vector<EncodedPair>(100, fake_pair(512)), {stop.get_token(), {}});
  EXPECT_EQ(error_of([&] { answer.get(); }), "cancelled: the call was cancelled by its stop token");
  EXPECT_EQ(chunks, 3);
  EXPECT_EQ(scorer->backlog().pairs, 0u);
  EXPECT_EQ(scorer->backlog().tokens, 0u);
  EXPECT_EQ(scorer->submit({fake_pair(4)}, {}).get().size(), 1u);
}

TEST(WorkQueue, APassedDeadlineComputesNothing) {
  const auto scorer = fake_scorer(2, [](const PackedBatch&) { ADD_FAILURE() << "ran"; });
  auto answer = scorer->submit({fake_pair(3)}, {{}, steady_clock::now() - milliseconds(1)});
  EXPECT_EQ(error_of([&] { answer.get(); }),
            "deadline_exceeded: the deadline passed before the work was done");
}

TEST(WorkQueue, TheBacklogCountsWhatIsNotDone) {
  std::latch go(1);
  const auto scorer = fake_scorer(1, [&](const PackedBatch&) { go.wait(); });
  EXPECT_EQ(scorer->backlog().pairs, 0u);
  auto one = scorer->submit({fake_pair(10), fake_pair(20)}, {});
  auto other = scorer->submit({fake_pair(30)}, {});
  EXPECT_EQ(scorer->backlog().pairs, 3u);
  EXPECT_EQ(scorer->backlog().tokens, 60u);
  go.count_down();
  one.get();
  other.get();
  EXPECT_EQ(scorer->backlog().pairs, 0u);
  EXPECT_EQ(scorer->backlog().tokens, 0u);
}

TEST(WorkQueue, DestroyingItCancelsWhatHasNotBegun) {
  std::latch begun(1), go(1);
  auto scorer = fake_scorer(1, [&](const PackedBatch&) {
    begun.count_down();
    go.wait();
  });
  auto under_way = scorer->submit({fake_pair(1)}, {});
  begun.wait();
  auto waiting = scorer->submit({fake_pair(1)}, {});
  std::thread destroyer([&] { scorer.reset(); });
  EXPECT_EQ(error_of([&] { waiting.get(); }), "cancelled: the Reranker was closed before the work was done");
  go.count_down();
  destroyer.join();
  EXPECT_EQ(under_way.get().size(), 1u);
}

// Case S19: many clients, lengths at random, some of which cancel, fail or run out of time; every answer is
// checked. Run under ThreadSanitizer as well.
TEST(WorkQueue, ManyClientsAtOnceAllGetTheirOwnAnswers) {
  const auto poisoned = [](const PackedBatch& batch) {
    if (batch.pairs() == 1 && batch.token_ids[0] == 999) throw std::bad_alloc();
  };
  const auto scorer = fake_scorer(3, poisoned);
  std::atomic<int> answers{0};
  const auto client = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 40; ++round) {
      const auto pairs = mixed_pairs(1 + random() % 60, random());
      std::stop_source stop;
      Limits limits{stop.get_token(), {}};
      std::vector<Score> scores(pairs.size());
      switch (random() % 5) {
        case 0:
          expect_scores_of(pairs, scorer->submit(pairs, limits).get());
          break;
        case 1:
          EXPECT_THROW(scorer->submit({{{999}, {0}, false}}, limits).get(), std::bad_alloc);
          break;
        case 2: {
          auto answer = scorer->submit(pairs, limits);
          stop.request_stop();
          try {
            expect_scores_of(pairs, answer.get());
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::cancelled);
          }
          break;
        }
        case 3:
          limits.deadline = steady_clock::now() + std::chrono::microseconds(random() % 300);
          try {
            scorer->score(pairs, scores, limits);
            expect_scores_of(pairs, scores);
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::deadline_exceeded);
          }
          break;
        default:
          scorer->score(pairs, scores, limits);
          expect_scores_of(pairs, scores);
      }
      ++answers;
    }
  };
  std::vector<std::thread> clients;
  for (unsigned c = 0; c < 16; ++c) clients.emplace_back(client, c);
  for (auto& thread : clients) thread.join();
  EXPECT_EQ(answers, 16 * 40);
  EXPECT_EQ(scorer->backlog().pairs, 0u);
}

/// Numbered texts of given sizes; text i encodes to a pair that begins with the id i mod 1000.
TextSource numbered_texts(std::size_t count, std::size_t bytes) {
  TextSource source;
  source.noun = "pair";
  source.count = count;
  source.bytes = [bytes](std::size_t) { return bytes; };
  source.encode = [](std::size_t i) { return fake_pair(1 + i % 128, static_cast<std::int32_t>(i % 1000)); };
  return source;
}

TEST(TextScoring, TakesALongInputInWindows) {
  for (const int threads : {1, 3}) {
    const auto scorer = fake_scorer(threads);
    const TextSource source = numbered_texts(10'000, 600);  // 128 tokens each by estimate: five windows
    std::vector<std::size_t> done;
    CallOptions options;
    options.progress = [&](std::size_t pairs, std::size_t total) {
      EXPECT_EQ(total, 10'000u);
      done.push_back(pairs);
    };
    const auto scores = score_texts(*scorer, source, 128, options);
    ASSERT_EQ(scores.size(), 10'000u);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      ASSERT_EQ(scores[i].logits[0], FakePass::logit(source.encode(i).ids)) << i;
    }
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.back(), 10'000u);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(std::count(done.begin(), done.end(), 10'000u), 1);
  }
}

/// Encodes pairs of 128 tokens and expects that no more than a window of them is ever waiting to be scored.
void expect_one_window_at_a_time(TextSource source) {
  std::atomic<std::size_t> encoded{0}, scored{0}, most{0};
  const auto scorer = fake_scorer(2, [&](const PackedBatch& batch) { scored += batch.pairs(); });
  source.encode = [&](std::size_t) {
    const std::size_t ahead = ++encoded - scored;
    for (std::size_t seen = most; ahead > seen && !most.compare_exchange_weak(seen, ahead);) {
    }
    return fake_pair(128);
  };
  score_texts(*scorer, source, 128, {});
  EXPECT_EQ(scored, 10'000u);
  EXPECT_LE(most * 128, kWindowTokens);
  EXPECT_GE(most * 128, kWindowTokens / 2);
}

TEST(TextScoring, NeverKeepsMoreThanAWindowEncoded) {
  expect_one_window_at_a_time(numbered_texts(10'000, 600));
}

TEST(TextScoring, CountsAQueryThatAllPairsShareIntoTheWindow) {
  TextSource source = numbered_texts(10'000, 0);  // empty passages, but a query that fills the pair
  source.shared_tokens = 200;
  expect_one_window_at_a_time(source);
}

TEST(TextScoring, OfSeveralBadTextsTheFirstIsNamed) {
  for (const int threads : {1, 3}) {
    const auto scorer = fake_scorer(threads);
    TextSource source = numbered_texts(5000, 400);
    source.noun = "passage";
    source.encode = [](std::size_t i) {
      if (i >= 1234 && i % 2 == 0) throw Error(ErrorCode::input_too_long, "it is too long");
      return fake_pair(3);
    };
    EXPECT_EQ(error_of([&] { score_texts(*scorer, source, 128, {}); }),
              "input_too_long: passage 1234: it is too long");
  }
}

TEST(TextScoring, OfNoTextsThereIsOneReport) {
  const auto scorer = fake_scorer(1);
  int reports = 0;
  CallOptions options;
  options.progress = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(done + total, 0u);
    ++reports;
  };
  EXPECT_TRUE(score_texts(*scorer, numbered_texts(0, 0), 128, options).empty());
  EXPECT_EQ(reports, 1);
}

TEST(TextScoring, WhatTheProgressFunctionThrowsEndsTheCall) {
  const auto scorer =
      fake_scorer(2, [](const PackedBatch&) { std::this_thread::sleep_for(milliseconds(5)); });
  CallOptions options;
  options.progress = [](std::size_t, std::size_t) { throw std::runtime_error("enough"); };
  EXPECT_THROW(score_texts(*scorer, numbered_texts(5000, 400), 128, options), std::runtime_error);
  EXPECT_EQ(scorer->submit({fake_pair(4)}, {}).get().size(), 1u);
}

}  // namespace
}  // namespace crossbill::engine
