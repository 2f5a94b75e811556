// Pairs, texts, passages and requests from lines; what is wrong with bad ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "temporary_file.hpp"
#include "tools/failures.hpp"
#include "tools/json_line.hpp"
#include "tools/pair_reader.hpp"
#include "tools/ranking_input.hpp"
#include "tools/text_reader.hpp"

namespace crossbill::tools {
namespace {

// Everything that a reader makes of `content`.
template <class Reader, class Record, class... Arguments>
std::vector<Record> read_all(std::string_view content, Arguments... arguments) {
  const TemporaryFolder folder;
  TextInput input(folder.write("input", content));
  LineReader lines(input);
  Reader reader(lines, arguments...);
  std::vector<Record> records;
  for (Record record; reader.next(record);) records.push_back(record);
  return records;
}

std::vector<PairRecord> pairs_in(std::string_view content, PairFormat format = PairFormat::automatic) {
  return read_all<PairReader, PairRecord>(content, format);
}
std::vector<TextRecord> texts_in(std::string_view content, LineFormat format = LineFormat::automatic) {
  return read_all<TextReader, TextRecord>(content, format);
}
std::vector<PassageRecord> passages_in(std::string_view content, bool first_stage = false,
                                       LineFormat format = LineFormat::automatic) {
  return read_all<PassageReader, PassageRecord>(content, format, first_stage);
}
std::vector<RankRequest> requests_in(std::string_view content, bool first_stage = false) {
  return read_all<RequestReader, RankRequest>(content, first_stage);
}

std::string fault_of_json(std::string_view line) {
  try {
    parse_json_object(line);
  } catch (const BadLine& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(PairReader, ReadsJsonLinesWithOtherFieldsInAnyOrder) {
  const auto pairs = pairs_in(
      "{\"passage\":\"p\\u00e9\",\"id\":[1,{}],\"query\":\"q\"}\n\n  \n{\"query\":\"\",\"passage\":\"\"}");
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].query, "q");
  EXPECT_EQ(pairs[0].passage, "pé");
  EXPECT_EQ(pairs[1].line, 4u);
  EXPECT_EQ(pairs[1].passage, "");
  EXPECT_EQ(pairs[1].fault, "");
}

TEST(PairReader, ReadsTabSeparatedLines) {
  const auto pairs = pairs_in("\nq one\tp one\r\n\tp\nq\t\n");
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].query, "q one");
  EXPECT_EQ(pairs[0].passage, "p one");
  EXPECT_EQ(pairs[1].query, "");
  EXPECT_EQ(pairs[2].passage, "");
}

TEST(PairReader, FormatCanBeForced) {
  const auto pairs = pairs_in("{\tx}\n", PairFormat::tsv);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].query, "{");
  EXPECT_NE(pairs_in("a\tb\n", PairFormat::jsonl)[0].fault, "");
}

TEST(PairReader, SaysWhatIsWrongWithALine) {
  const auto pairs = pairs_in(
      "{\"query\":\"q\",\"text\":\"t\",\"id\":1}\n{\"query\":7,\"passage\":\"p\"}\n[1]\n{\"query\":\"q\"\n"
      "{\"query\":\"q\",\"passage\":null}\n");
  ASSERT_EQ(pairs.size(), 5u);
  EXPECT_EQ(pairs[0].fault, "no \"passage\" field; found \"query\", \"text\", \"id\"");
  EXPECT_EQ(pairs[1].fault, "\"query\" must be a string, found a number");
  EXPECT_EQ(pairs[2].fault, "a JSON object was expected, found an array");
  EXPECT_EQ(pairs[3].fault.find("not valid JSON at byte 13: unexpected end of input"), 0u) << pairs[3].fault;
  EXPECT_EQ(pairs[4].fault, "\"passage\" must be a string, found null");
  EXPECT_EQ(pairs[4].line, 5u);
  const auto tsv = pairs_in("a\tb\tc\nno tab\n");
  EXPECT_EQ(tsv[0].fault.find("expected query TAB passage, found 3 columns"), 0u);
  EXPECT_EQ(tsv[1].fault, "expected query TAB passage, found 1 column");
}

TEST(JsonLine, RefusesWhatIsNoJson) {
  EXPECT_NE(fault_of_json("{\"a\":\"\xff\"}").find("UTF-8"), std::string::npos);
  EXPECT_NE(fault_of_json("{\"a\":\"\\ud800\"}").find("surrogate"), std::string::npos);
  EXPECT_NE(fault_of_json("{\"a\":\"\\udc00x\"}").find("surrogate"), std::string::npos);
  EXPECT_NE(fault_of_json("{} {}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(fault_of_json("{\"a\":NaN}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(fault_of_json("{\"a\":1e999}").find("out of range"), std::string::npos);
  EXPECT_NE(fault_of_json("").find("not valid JSON"), std::string::npos);
}

TEST(JsonLine, SurvivesDeepNesting) {
  EXPECT_EQ(fault_of_json(std::string(100000, '[')), "JSON nested deeper than 100 levels");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(fault_of_json(objects), "JSON nested deeper than 100 levels");
  const std::string fine = "{\"a\":" + std::string(90, '[') + std::string(90, ']') + "}";
  EXPECT_EQ(fault_of_json(fine), "no fault");
}

TEST(JsonLine, BoundsTheFieldsOfAnObject) {
  std::string fields = "{\"k\":0";
  for (int i = 0; i < 20000; ++i) fields += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_EQ(fault_of_json(fields + "}"), "an object has more than 10000 fields");
}

TEST(JsonLine, TakesTheLastOfDuplicateFields) {
  EXPECT_EQ(parse_json_object("{\"a\":1,\"b\":2,\"a\":3}").dump(), "{\"a\":3,\"b\":2}");
}

TEST(JsonLine, ShortensLongListsOfNames) {
  Json object;
  object[std::string(100, 'n')] = 0;
  for (int i = 0; i < 20; ++i) {
    std::string name = "k";
    object[name += std::to_string(i)] = 0;
  }
  std::string expected(40, 'n');
  expected.insert(0, 1, '"').append(
      "...\", \"k0\", \"k1\", \"k2\", \"k3\", \"k4\", \"k5\", \"k6\" and 13 more");
  EXPECT_EQ(field_names(object), expected);
  EXPECT_EQ(field_names(Json::object()), "no fields");
}

TEST(TextReader, ReadsTextsPairsAndPlainLines) {
  const auto json = texts_in("\n{\"text\":\"t\"}\n{\"query\":\"q\",\"passage\":\"p\"}\n{\"query\":\"q\"}\n");
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0].text, "t");
  EXPECT_FALSE(json[0].passage.has_value());
  EXPECT_EQ(json[1].passage, "p");
  EXPECT_EQ(json[2].fault, "neither \"text\" nor \"query\" and \"passage\"; found \"query\"");
  EXPECT_EQ(json[2].line, 4u);
  const auto plain = texts_in("\n \nfirst\n\n{\"text\":\n");
  ASSERT_EQ(plain.size(), 5u);
  EXPECT_EQ(plain[0].text, "");
  EXPECT_EQ(plain[2].text, "first");
  EXPECT_EQ(plain[2].line, 3u);
  EXPECT_EQ(plain[4].text, "{\"text\":");
}

TEST(TextReader, ForcedTextTakesJsonAsText) {
  EXPECT_EQ(texts_in("{\"text\":\"t\"}\n", LineFormat::text)[0].text, "{\"text\":\"t\"}");
}

TEST(PassageReader, CountsBlankPlainLinesAsPassages) {
  const auto passages = passages_in("root A\n\n \nroot D\n");
  ASSERT_EQ(passages.size(), 4u);
  EXPECT_EQ(passages[1].candidate.text, "");
  EXPECT_EQ(passages[3].candidate.text, "root D");
  EXPECT_EQ(passages[3].line, 4u);
  EXPECT_TRUE(passages[0].candidate.fields.is_null());
}

TEST(PassageReader, KeepsTheFieldsOfJsonPassages) {
  const auto passages =
      passages_in("{\"id\":\"d1\",\"text\":\"t\",\"score\":1.5}\n{\"passage\":\"p\"}\n{\"body\":\"b\"}\n");
  ASSERT_EQ(passages.size(), 3u);
  EXPECT_EQ(passages[0].candidate.text, "t");
  EXPECT_EQ(passages[0].candidate.first_stage, 1.5);
  EXPECT_EQ(to_line(passages[0].candidate.fields), "{\"id\":\"d1\",\"text\":\"t\",\"score\":1.5}");
  EXPECT_EQ(passages[1].candidate.text, "p");
  EXPECT_EQ(passages[2].fault, "no \"text\" or \"passage\" field; found \"body\"");
}

TEST(PassageReader, FusionNeedsANumericScore) {
  const auto passages = passages_in(
      "{\"text\":\"t\",\"score\":-2}\n{\"text\":\"t\"}\n{\"text\":\"t\",\"score\":\"3\"}\n", true);
  EXPECT_EQ(passages[0].candidate.first_stage, -2.0);
  EXPECT_NE(passages[1].fault.find("--fusion"), std::string::npos);
  EXPECT_NE(passages[2].fault.find("--fusion"), std::string::npos);
  EXPECT_NE(passages_in("plain\n", true)[0].fault.find("--fusion"), std::string::npos);
}

TEST(PassageReader, PointsOutARequestWhereAPassageWasExpected) {
  EXPECT_NE(passages_in("{\"query\":\"q\",\"passages\":[]}\n")[0].fault.find("leave out --query"),
            std::string::npos);
}

TEST(RequestReader, ReadsStringsAndObjects) {
  const auto requests =
      requests_in("{\"qid\":7,\"query\":\"q\",\"passages\":[\"a\",{\"text\":\"b\",\"id\":1}],\"x\":null}\n");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].fault, "");
  EXPECT_EQ(requests[0].candidates[0].text, "a");
  EXPECT_EQ(requests[0].candidates[1].text, "b");
  EXPECT_EQ(to_line(requests[0].fields), "{\"qid\":7,\"query\":\"q\",\"x\":null}");
}

TEST(RequestReader, SaysWhichPassageIsBad) {
  const auto requests = requests_in(
      "{\"query\":\"q\",\"passages\":[\"a\",{\"body\":\"b\"}]}\n{\"query\":\"q\",\"passages\":[3]}\n"
      "{\"query\":\"q\",\"passages\":\"a\"}\n{\"passages\":[]}\n{\"query\":\"q\"}\nplain\n");
  ASSERT_EQ(requests.size(), 6u);
  EXPECT_EQ(requests[0].fault, "passages[1]: no \"text\" or \"passage\" field; found \"body\"");
  EXPECT_EQ(requests[1].fault, "passages[0]: a string or an object was expected, found a number");
  EXPECT_EQ(requests[2].fault, "\"passages\" must be an array, found a string");
  EXPECT_EQ(requests[3].fault, "no \"query\" field; found \"passages\"");
  EXPECT_NE(requests[4].fault.find("give the query with --query"), std::string::npos);
  EXPECT_NE(requests[5].fault.find("--query"), std::string::npos);
}

}  // namespace
}  // namespace crossbill::tools
