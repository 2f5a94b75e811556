// The order of a ranking, and what stands in it (cases S2, S4, S5, S7, S8).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "engine/ranking.hpp"
#include "host_float_state.hpp"
#include "reranker_inputs.hpp"

namespace crossbill {
namespace {

using engine::best_first;
using Indices = std::vector<std::size_t>;

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

TEST(BestFirst, NanIsLastAndNeverAmongTheBest) {
  EXPECT_EQ(best_first(std::vector{kNan, 0.90f, 0.80f}, 2), (Indices{1, 2}));
  EXPECT_EQ(best_first(std::vector{kNan, 0.90f, -kNan, 0.80f, -kInfinity}, 5), (Indices{1, 3, 4, 0, 2}));
  EXPECT_EQ(best_first(std::vector{kNan, kNan}, 2), (Indices{0, 1}));
}

TEST(BestFirst, TiesStandInInputOrder) {
  EXPECT_EQ(best_first(std::vector(5, 1.5f), 5), (Indices{0, 1, 2, 3, 4}));
  EXPECT_EQ(best_first(std::vector{0.0f, 1.0f, -0.0f, 1.0f}, 4), (Indices{1, 3, 0, 2}));
}

TEST(BestFirst, TakesNoMoreThanThereAre) {
  EXPECT_EQ(best_first(std::vector{1.0f, 3.0f, 2.0f}, 99), (Indices{1, 2, 0}));
  EXPECT_EQ(best_first(std::vector{1.0f, 3.0f, 2.0f}, 1), Indices{1});
  EXPECT_TRUE(best_first({}, 3).empty());
}

// std::sort reads out of range when the order isn't strict and weak, so this is checked on long inputs full
// of ties and NaN, against a sort of those that are no NaN.
TEST(BestFirst, IsAStrictWeakOrderOverAnyBits) {
  std::mt19937 random(8);
  for (int round = 0; round < 100; ++round) {
    std::vector<float> logits(random() % 500);
    for (float& x : logits) {
      x = random() % 3 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random()) | 0x7f800000u)
                            : static_cast<float>(static_cast<int>(random() % 9) - 4);
    }
    Indices expected;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] == logits[i]) expected.push_back(i);
    }
    std::sort(expected.begin(), expected.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(-logits[a], a) < std::pair(-logits[b], b);
    });
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] != logits[i]) expected.push_back(i);
    }
    EXPECT_EQ(best_first(logits, logits.size()), expected);
  }
}

TEST(BestFirst, DenormalLogitsDifferEvenIfTheHostTakesThemForZero) {
  const std::vector<float> logits = {0.0f, 1e-40f, 2e-40f};
  for (const auto& state : engine::test::host_float_states()) {
    const engine::test::WithHostFloatState host(state);
    EXPECT_EQ(best_first(logits, 3), (Indices{2, 1, 0})) << state.name;
  }
}

class Ranking : public testing::Test {
 protected:
  const Reranker reranker_{test::kBundledModel};
  const std::vector<std::string_view> passages_ = {
      "Sydney is known for its harbour.", "Canberra is the capital city of Australia.",
      "A recipe for lentil soup with carrots.", "Canberra is the capital city of Australia."};
  const std::string_view query_ = "what is the capital of australia";

  std::vector<RankedPassage> top(std::optional<std::size_t> n) const {
    RankOptions options;
    options.top_n = n;
    return reranker_.rank(query_, passages_, options);
  }
};

TEST_F(Ranking, EachEntryCarriesItsOwnIndexAndScore) {
  const auto hits = top({});
  ASSERT_EQ(hits.size(), 4u);
  EXPECT_EQ(hits[0].index, 1u);  // equal texts: the earlier one first
  EXPECT_EQ(hits[1].index, 3u);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const Score alone = reranker_.score(query_, passages_[hits[i].index]);
    EXPECT_EQ(hits[i].logit, alone.logits.front());
    EXPECT_EQ(hits[i].score, alone.score());
    EXPECT_EQ(hits[i].tokens, alone.tokens);
    if (i > 0) {
      EXPECT_LE(hits[i].logit, hits[i - 1].logit);
    }
  }
}

TEST_F(Ranking, TopNTakesTheBest) {
  ASSERT_EQ(top(1).size(), 1u);
  EXPECT_EQ(top(1).front().index, 1u);
  EXPECT_EQ(top(99).size(), 4u);
  EXPECT_EQ(test::error_of([&] { top(0); }),
            "invalid_argument: top_n is 0; it must be at least 1, or absent for all passages");
}

TEST_F(Ranking, OfNoPassagesIsEmpty) {
  EXPECT_TRUE(reranker_.rank(query_, {}, {}).empty());
}

TEST_F(Ranking, BlankPassagesAreScoredLikeAnyOther) {
  const std::vector<std::string_view> passages = {"root A", "", " ", "root D"};
  const auto hits = reranker_.rank("root", passages);
  ASSERT_EQ(hits.size(), 4u);
  const auto hit = [&](std::size_t index) {
    return *std::find_if(hits.begin(), hits.end(), [&](const auto& h) { return h.index == index; });
  };
  EXPECT_EQ(hit(1).tokens, 4);  // [CLS] root [SEP] [SEP]
  EXPECT_EQ(hit(2).tokens, 4);
  EXPECT_EQ(hit(1).logit, hit(2).logit);
  EXPECT_EQ(reranker_.encode("root", "").ids, reranker_.encode("root", " ").ids);
  EXPECT_EQ(reranker_.score("", "").tokens, 3);
}

TEST_F(Ranking, AScoreDoesNotDependOnTheOtherPassages) {
  const auto all = top({});
  const std::vector<std::string_view> one = {passages_[all.back().index]};
  const auto alone = reranker_.rank(query_, one);
  EXPECT_EQ(alone.front().score, all.back().score);
  EXPECT_NE(alone.front().score, all.front().score);
}

TEST(RankingByLabel, NeedsANameIfTheModelHasSeveral) {
  const Reranker reranker(test::kThreeLabels);
  const std::vector<std::string_view> passages = {"The crow eats seeds.", "The bridge is old.", ""};
  EXPECT_EQ(test::error_of([&] { reranker.rank("what does a crow eat", passages); }),
            "invalid_argument: the model has 3 labels, so a ranking needs one by name: \"contradiction\", "
            "\"entailment\", \"neutral\"");
  RankOptions options;
  options.label = "entailed";
  EXPECT_EQ(
      test::error_of([&] { reranker.rank("what does a crow eat", passages, options); }),
      "invalid_argument: the model has no label \"entailed\"; it has \"contradiction\", \"entailment\", "
      "\"neutral\"");
  options.label = "entailment";
  const auto hits = reranker.rank("what does a crow eat", passages, options);
  ASSERT_EQ(hits.size(), 3u);
  for (const auto& hit : hits) {
    EXPECT_EQ(hit.logit, reranker.score("what does a crow eat", passages[hit.index]).logits[1]);
  }
  EXPECT_TRUE(std::is_sorted(hits.begin(), hits.end(),
                             [](const auto& a, const auto& b) { return a.logit > b.logit; }));
}

TEST(RankingByLabel, OfASingleLabelNeedsNone) {
  const Reranker reranker(test::kTinyModel);
  const std::vector<std::string_view> passages = {"a", "b"};
  RankOptions options;
  options.label = reranker.info().labels.front();
  EXPECT_EQ(reranker.rank("q", passages, options).size(), reranker.rank("q", passages).size());
}

}  // namespace
}  // namespace crossbill
