// Checks against public files that are not part of this repository: CROSSBILL_DATA names their folder.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "golden_files.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/tokenizer.hpp"

namespace crossbill::tokenizer {
namespace {

class PublicData : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto folder = big_data_folder();
    if (!folder) {
      GTEST_SKIP() << "CROSSBILL_DATA is not set, so the public data sets are not read";
    }
    golden_ = *folder / "golden";
    models_ = *folder / "models";
  }
  std::filesystem::path golden_;
  std::filesystem::path models_;
};

std::vector<std::int32_t> numbers(const std::string& text) {
  std::vector<std::int32_t> values;
  for (const std::string& word : split(text, ' ')) {
    if (!word.empty()) {
      values.push_back(std::stoi(word));
    }
  }
  return values;
}

TEST_F(PublicData, TwentySevenThousandQueries) {
  std::size_t queries = 0;
  for (const std::string& line : split(read_golden(golden_ / "wordpiece_queries.tsv.gz"), '\n')) {
    if (!line.empty()) {
      const auto fields = split(line, '\t');
      EXPECT_EQ(base_tokenizer().tokenize_side(fields[0], whole()).ids, numbers(fields[1])) << fields[0];
      ++queries;
    }
  }
  EXPECT_EQ(queries, 27028U);
}

TEST_F(PublicData, HardStringsOfAnotherEngine) {
  const std::string input = read_golden(golden_ / "ggml-vocab-bert-bge.gguf.inp");
  const std::string separator = "\n__ggml_vocab_test__\n";
  const auto outputs = split(read_golden(golden_ / "ggml-vocab-bert-bge.gguf.out"), '\n');
  std::size_t number = 0;
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t end = std::min(input.find(separator, at), input.size());
    ASSERT_LT(number, outputs.size());
    EXPECT_EQ(base_tokenizer().tokenize_side(input.substr(at, end - at), whole()).ids,
              numbers(outputs[number]))
        << "string " << number;
    ++number;
    at = end + separator.size();
  }
  EXPECT_EQ(number, 46U);
}

/// The tokenizer of an upstream case: the base vocabulary by name, or a list of tokens.
Tokenizer upstream_tokenizer(const nlohmann::json& line) {
  if (line["vocab"].is_string()) {
    return base_tokenizer();
  }
  std::vector<std::pair<std::string, std::int32_t>> tokens;
  for (const auto& token : line["vocab"]) {
    tokens.emplace_back(token.get<std::string>(), static_cast<std::int32_t>(tokens.size()));
  }
  Settings settings;
  return {settings, Vocabulary::build(tokens)};
}

TEST_F(PublicData, UpstreamTestCases) {
  std::size_t checked = 0;
  for (const auto& line : nlohmann::json::parse(read_golden(golden_ / "upstream_test_cases.json"))) {
    if (!line.contains("text") || !line.contains("ids") || !line.contains("vocab")) {
      continue;
    }
    SCOPED_TRACE(line.dump());
    const Tokenizer tokenizer = upstream_tokenizer(line);
    const auto ids = line["ids"].get<std::vector<std::int32_t>>();
    const std::string text = line["text"].get<std::string>();
    if (line.contains("pair")) {
      const Tokenization got = tokenizer.explain(text, line["pair"].get<std::string>(), whole());
      EXPECT_EQ(got.ids, ids);
      EXPECT_EQ(as_lists(got.offsets), line["offsets"].get<std::vector<std::vector<std::uint32_t>>>());
    } else {
      const bool with_template = line["vocab"].is_string() && ids.front() == 101;
      EXPECT_EQ(with_template ? tokenizer.explain(text, whole()).ids : ids_of(tokenizer, text), ids);
    }
    ++checked;
  }
  EXPECT_GT(checked, 0U);
}

TEST_F(PublicData, PublishedPairs) {
  const auto json = nlohmann::json::parse(read_golden(golden_ / "pair_encoding.json"));
  const EncodedPair pair =
      base_tokenizer().encode(json["query"].get<std::string>(), json["passage"].get<std::string>(), {});
  EXPECT_EQ(pair.ids, json["input_ids"].get<std::vector<std::int32_t>>());
  EXPECT_EQ(pair.type_ids, json["token_type_ids"].get<std::vector<std::uint8_t>>());
}

TEST_F(PublicData, RealModelFoldersReadTheSameEitherWay) {
  for (const char* model : {"crossbill-minilm-l3", "ms-marco-MiniLM-L-6-v2"}) {
    const TokenizerFiles from_json = read_tokenizer_files(models_ / model);
    EXPECT_EQ(from_json.settings.model_max_length, 512U);
    EXPECT_EQ(from_json.vocabulary.size(), 30522U);
    const Tokenizer tokenizer(from_json.settings, from_json.vocabulary);
    for (const auto& line : read_json_lines(golden_folder() / "texts.jsonl")) {
      if (!line.contains("norm")) {
        EXPECT_EQ(tokenizer.explain(golden_text(line["text"]), whole()).ids, unroll(line["ids"]))
            << line["id"];
      }
    }
  }
}

}  // namespace
}  // namespace crossbill::tokenizer
