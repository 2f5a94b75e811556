// Numbers, tables, rankings and progress as they are shown.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tools/json_line.hpp"
#include "tools/number_format.hpp"
#include "tools/progress_bar.hpp"
#include "tools/ranking_output.hpp"
#include "tools/score_format.hpp"
#include "tools/table.hpp"
#include "tools/terminal.hpp"

namespace crossbill::tools {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NumberFormat, FloatsReadBackToTheSameBits) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t bits = random();
    float value, back;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    back = std::strtof(shortest(value).c_str(), nullptr);
    EXPECT_EQ(std::memcmp(&value, &back, sizeof value), 0) << shortest(value);
  }
}

TEST(NumberFormat, FloatsAreShort) {
  EXPECT_EQ(shortest(0.1f), "0.1");
  EXPECT_EQ(shortest(-4.32f), "-4.32");
  EXPECT_EQ(shortest(8.0f), "8");
  EXPECT_EQ(shortest(-0.0f), "-0");
}

TEST(NumberFormat, JsonHasNullForWhatIsNotFinite) {
  EXPECT_EQ(json_number(kNaN), "null");
  EXPECT_EQ(json_number(-kInfinity), "null");
  EXPECT_EQ(json_number(0.25f), "0.25");
  EXPECT_EQ(shortest(-kNaN), "nan");
  EXPECT_EQ(shortest(-kInfinity), "-inf");
}

TEST(NumberFormat, CountsAndSizesForPeople) {
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(byte_size(999), "999 bytes");
  EXPECT_EQ(byte_size(17400000), "17.4 MB");
  EXPECT_EQ(byte_size(999999), "1.0 MB");
  EXPECT_EQ(byte_size(133000000), "133 MB");
  EXPECT_EQ(counted(1, "pair"), "1 pair");
  EXPECT_EQ(counted(0, "pair"), "0 pairs");
  EXPECT_EQ(fixed(1e300, 1).size(), 303u);
}

TEST(Terminal, CountsColumns) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("né"), 2u);
  EXPECT_EQ(display_width("ne\xCC\x81"), 2u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("😃"), 2u);
}

TEST(Terminal, ClipsWithAnEllipsis) {
  EXPECT_EQ(clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(clipped("abcdefg", 6), "abcde…");
  EXPECT_EQ(clipped("ab cdefg", 4), "ab…");
  EXPECT_EQ(clipped("日本語", 5), "日本…");
  EXPECT_EQ(clipped("日本語", 4), "日…");
  EXPECT_EQ(clipped("abcdefg", 6, false), "abc...");
  EXPECT_EQ(clipped("abc", 0), "");
}

TEST(Terminal, TakesTheSteeringOutOfText) {
  EXPECT_EQ(one_line("  a\t\nb \x1b[31mred\x7f\xC2\x9B c\r\n"), "a b [31mred c");
  EXPECT_EQ(one_line("a\xFF"
                     "b\xE2\x82"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(one_line("right\xE2\x80\xAEleft"), "right left");
  EXPECT_EQ(one_line("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Table, AlignsAndClips) {
  const std::vector<Column> columns = {{"n", Align::right}, {"name"}, {"text", Align::left, true}};
  const std::vector<Row> rows = {{{"1", "a", "short"}, ""}, {{"10", "日本", "a rather long text"}, "1;32"}};
  EXPECT_EQ(render_table(columns, rows, {22, false, true}),
            " n  name  text\n"
            " 1  a     short\n"
            "10  日本  a rather lo…\n");
  const std::string coloured_table = render_table(columns, rows, {80, true, true});
  EXPECT_NE(coloured_table.find("\x1b[1;32m10  日本  a rather long text\x1b[0m\n"), std::string::npos);
}

TEST(Table, StaysReadableOnANarrowTerminal) {
  const std::vector<Column> columns = {{"n", Align::right}, {"text", Align::left, true}};
  EXPECT_EQ(render_table(columns, {{{"1", "0123456789abcdef"}, ""}}, {5, false, true}),
            "n  text\n1  012345678…\n");
}

TEST(Table, BarsFillInEighths) {
  EXPECT_EQ(bar(1, 4, true), "████");
  EXPECT_EQ(bar(0, 4, true), "");
  EXPECT_EQ(bar(0.5, 3, true), "█▌");
  EXPECT_EQ(bar(0.5, 4, false), "##");
  EXPECT_EQ(bar(std::nan(""), 4, true), "");
  EXPECT_EQ(bar(7, 2, true), "██");
}

TEST(Progress, SaysShareCountRateAndTimeLeft) {
  EXPECT_EQ(progress_line({0.25, 1500, 10}, "pairs", 100, false),
            "  25 % ######                    1,500 pairs  150/s  0:30 left");
  EXPECT_EQ(progress_line({std::nullopt, 3, 10}, "pairs", 100, true), "3 pairs  0.3/s");
  EXPECT_EQ(progress_line({std::nullopt, 3, 10}, "pairs", 7, false), "3 pa...");
  EXPECT_EQ(progress_line({0.5, 10, 7265}, "pairs", 200, false).substr(33), "10 pairs  0.0/s  2:01:05 left");
}

Score score_of(std::vector<float> logits, std::vector<float> values) {
  Score score;
  score.logits = std::move(logits);
  score.values = std::move(values);
  score.tokens = 13;
  return score;
}

TEST(ScoreFormat, OneLabel) {
  const Score score = score_of({2.5f}, {0.1f});
  EXPECT_EQ(score_as_text(score), "0.1");
  EXPECT_EQ(score_as_json(score, {"LABEL_0"}),
            "{\"score\":0.1,\"logit\":2.5,\"tokens\":13,\"truncated\":false}");
}

TEST(ScoreFormat, SeveralLabels) {
  const Score score = score_of({2.5f, -1}, {0.75f, 0.25f});
  EXPECT_EQ(score_as_text(score), "0.75\t0.25");
  EXPECT_EQ(score_as_json(score, {"no", "\"yes\""}),
            "{\"scores\":[0.75,0.25],\"logits\":[2.5,-1],\"labels\":[\"no\",\"\\\"yes\\\"\"],\"tokens\":13,"
            "\"truncated\":false}");
}

TEST(ScoreFormat, NanIsNullWithAFlag) {
  const Score score = score_of({kNaN}, {kNaN});
  EXPECT_EQ(score_as_text(score), "nan");
  EXPECT_EQ(score_as_json(score, {"LABEL_0"}),
            "{\"score\":null,\"logit\":null,\"tokens\":13,\"truncated\":false,\"not_finite\":true}");
}

Candidate candidate_of(const char* json) {
  return candidate_from_json(Json::parse(json), false);
}

TEST(RankingOutput, KeepsFieldsAndRenamesThoseThatAreTaken) {
  const Hit hit = {3, 0.5f, 0.5f, 2, 9, true};
  EXPECT_EQ(
      hit_as_json(hit, 1,
                  candidate_of("{\"id\":\"a\",\"text\":\"t\",\"score\":1.50,\"rank\":4,\"input_rank\":null}"),
                  false),
      "{\"rank\":1,\"index\":3,\"score\":0.5,\"logit\":2,\"tokens\":9,\"truncated\":true,\"id\":\"a\","
      "\"text\":\"t\",\"input_score\":1.5,\"input_input_rank\":4,\"input_rank\":null}");
  EXPECT_EQ(
      hit_as_json(hit, 1, candidate_of("\"plain\""), true),
      "{\"rank\":1,\"index\":3,\"score\":0.5,\"model_score\":0.5,\"logit\":2,\"tokens\":9,\"truncated\":true,"
      "\"text\":\"plain\"}");
}

TEST(RankingOutput, InvalidUtf8BecomesTheReplacementCharacter) {
  Candidate candidate;
  candidate.text = "a\xFF";
  EXPECT_NE(hit_as_json({}, 1, candidate, false).find("\"text\":\"a\xEF\xBF\xBD\""), std::string::npos);
}

TEST(RankingOutput, TabsAndLineEndsDoNotBreakTheLine) {
  EXPECT_EQ(hit_as_tsv({2, 1.5f, 1.5f, 1.5f, 8, false}, 1, candidate_of("\"a\\tb\\nc\"")),
            "1\t1.5\t2\t8\ta b c");
}

TEST(RankingOutput, RequestsKeepTheirFields) {
  RankRequest request;
  request.fields = Json::parse("{\"qid\":1,\"results\":2,\"input_results\":3}");
  request.candidates = {candidate_of("\"a\"")};
  const std::vector<Hit> hits = {{0, 1, 1, 1, 5, false}};
  EXPECT_EQ(request_as_json(request, hits, false),
            "{\"qid\":1,\"input_input_results\":2,\"input_results\":3,\"results\":[{\"rank\":1,\"index\":0,"
            "\"score\":1,"
            "\"logit\":1,\"tokens\":5,\"truncated\":false,\"text\":\"a\"}]}");
  EXPECT_EQ(request_as_json(request, {}, false),
            "{\"qid\":1,\"input_input_results\":2,\"input_results\":3,\"results\":[]}");
}

TEST(RankingOutput, TableShowsScoresTokensAndPassages) {
  const std::vector<Candidate> candidates = {candidate_of("\"first\\npassage\""), candidate_of("\"second\"")};
  const std::vector<Hit> hits = {{1, 8.25f, 8.25f, 40, 12, true}, {0, -3.5f, -3.5f, -40, 9, false}};
  EXPECT_EQ(ranking_as_table(hits, candidates, false, {80, false, true}),
            "rank   score            tokens  passage\n"
            "   1   8.250  ████████     12*  second\n"
            "   2  -3.500                9   first passage\n");
}

TEST(Ranking, FusionIsAPlainWeightedSum) {
  EXPECT_EQ(fused_score(10, 2, 0.25), 4.0f);
  EXPECT_EQ(fused_score(10, 2, 0), 2.0f);
  EXPECT_EQ(fused_score(10, 2, 1), 10.0f);
}

TEST(Ranking, FusionOrdersTiesByIndexAndNanLast) {
  std::vector<Candidate> candidates(4);
  for (Candidate& candidate : candidates) candidate.first_stage = 1;
  candidates[3].first_stage = 5;
  std::vector<Hit> hits(4);
  const float scores[] = {2, kNaN, 2, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    hits[i].index = 3 - i;
    hits[i].model_score = scores[3 - i];
  }
  RankingSettings settings;
  settings.fusion = 0.5;
  fuse(hits, candidates, settings);
  std::vector<std::size_t> order;
  for (const Hit& hit : hits) order.push_back(hit.index);
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 0, 2, 1}));
  EXPECT_EQ(hits[0].score, 3.5f);
  settings.top = 1;
  fuse(hits, candidates, settings);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].index, 3u);
}

}  // namespace
}  // namespace crossbill::tools
