// Single calls: long texts (case S11), progress, cancelling, deadlines, encoded pairs, tokenising.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "reranker_inputs.hpp"

namespace crossbill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::bits_of;
using test::error_of;
using test::MixedPairs;

std::string repeated(std::string_view word, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += std::string(word) + " ";
  return text;
}

TEST(LongTexts, AreTruncatedAndSaySo) {
  const Reranker reranker(test::kBundledModel);
  const Score fits = reranker.score("river", repeated("river", 508));  // 512 tokens with the four others
  EXPECT_EQ(fits.tokens, 512);
  EXPECT_FALSE(fits.truncated);
  for (const std::size_t words : {509u, 8'000u, 2'000'000u}) {  // 513 tokens, 48,000 bytes, 12 MB
    const Score cut = reranker.score("river", repeated("river", words));
    EXPECT_EQ(cut.tokens, 512) << words;
    EXPECT_TRUE(cut.truncated) << words;
    EXPECT_EQ(cut.logits, fits.logits) << words;  // what is left is the same
  }
}

TEST(LongTexts, AreRefusedByIndexIfTruncationIs) {
  Options options;
  options.truncation = Truncation::refuse;
  options.threads = 2;
  const Reranker reranker(test::kBundledModel, options);
  const std::string too_long = repeated("river", 509);
  std::vector<Pair> pairs(40, {"river", "bridge"});
  pairs[17].passage = pairs[30].passage = too_long;
  const std::string score_error = error_of([&] { reranker.score(pairs); });
  EXPECT_EQ(score_error.find("input_too_long: pair 17: "), 0u) << score_error;
  std::vector<std::string_view> passages(20, "bridge");
  passages[5] = too_long;
  const std::string rank_error = error_of([&] { reranker.rank("river", passages); });
  EXPECT_EQ(rank_error.find("input_too_long: passage 5: "), 0u) << rank_error;
  passages[5] = "bridge";
  EXPECT_EQ(reranker.rank("river", passages).size(), 20u);
}

TEST(Progress, IsReportedByTheCallingThreadAndEndsWithAll) {
  for (const int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Reranker reranker(test::kBundledModel, options);
    const MixedPairs pairs(150, 1);
    std::vector<std::size_t> done;
    std::vector<steady_clock::time_point> times;
    CallOptions call;
    call.progress = [&, caller = std::this_thread::get_id()](std::size_t now, std::size_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(total, 150u);
      done.push_back(now);
      times.push_back(steady_clock::now());
    };
    reranker.score(pairs, call);
    ASSERT_FALSE(done.empty());
    EXPECT_EQ(done.back(), 150u);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    for (std::size_t i = 1; i + 1 < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], milliseconds(50));
  }
}

TEST(Cancelling, EndsACallAndLeavesTheRerankerUsable) {
  for (const int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    const Reranker reranker(test::kBundledModel, options);
    const MixedPairs many(2000, 2), few(5, 3);
    const auto expected = bits_of(reranker.score(few));
    std::stop_source stop;
    CallOptions call;
    call.stop = stop.get_token();
    call.progress = [&](std::size_t, std::size_t) { stop.request_stop(); };
    EXPECT_EQ(error_of([&] { reranker.score(many, call); }),
              "cancelled: the call was cancelled by its stop token");
    EXPECT_EQ(bits_of(reranker.score(few)), expected);
    RankOptions ranking;
    ranking.stop = stop.get_token();
    EXPECT_EQ(error_of([&] { reranker.rank("river", few.passages(), ranking); }),
              "cancelled: the call was cancelled by its stop token");
  }
}

TEST(Deadline, EndsACallAndLeavesTheRerankerUsable) {
  const Reranker reranker(test::kBundledModel);
  const MixedPairs many(2000, 2), few(5, 3);
  const auto expected = bits_of(reranker.score(few));
  CallOptions call;
  for (const int wait : {-1, 0, 20}) {
    call.deadline = steady_clock::now() + milliseconds(wait);
    EXPECT_EQ(error_of([&] { reranker.score(many, call); }),
              "deadline_exceeded: the deadline passed before the work was done");
  }
  EXPECT_EQ(bits_of(reranker.score(few)), expected);
  call.deadline = steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(bits_of(reranker.score(few, call)), expected);
}

TEST(EncodedPairs, ThatTheModelCannotTakeAreRefusedByIndex) {
  const Reranker reranker(test::kTinyModel);
  std::vector<EncodedPair> pairs(3, reranker.encode("crow", "seeds"));
  EXPECT_EQ(reranker.score(pairs).size(), 3u);
  pairs[2].ids.back() = static_cast<std::int32_t>(reranker.info().vocabulary);
  const std::string error = error_of([&] { reranker.score(pairs); });
  EXPECT_EQ(error.find("invalid_argument: pair 2: token "), 0u) << error;
  pairs[2] = {};
  EXPECT_EQ(error_of([&] { reranker.score(pairs); }),
            "invalid_argument: pair 2: it has no tokens; at least [CLS] is needed");
}

TEST(NoPairs, AreNoScores) {
  const Reranker reranker(test::kTinyModel);
  EXPECT_TRUE(reranker.score(std::span<const Pair>()).empty());
  EXPECT_TRUE(reranker.score(std::span<const EncodedPair>()).empty());
}

TEST(Tokenizing, GivesTheTokensThatAreScored) {
  const Reranker reranker(test::kBundledModel);
  const Tokenization tokens = reranker.tokenize("café crow", "naïve");
  const EncodedPair pair = reranker.encode("café crow", "naïve");
  EXPECT_EQ(tokens.ids, pair.ids);
  EXPECT_EQ(tokens.type_ids, pair.type_ids);
  EXPECT_EQ(tokens.tokens, (std::vector<std::string>{"[CLS]", "cafe", "crow", "[SEP]", "naive", "[SEP]"}));
  EXPECT_EQ(tokens.offsets[1], (TokenOffset{0, 4}));
  EXPECT_EQ(tokens.offsets[4], (TokenOffset{0, 5}));
  EXPECT_EQ(reranker.tokenize("crow").tokens, (std::vector<std::string>{"[CLS]", "crow", "[SEP]"}));
}

}  // namespace
}  // namespace crossbill
