// tokenizer.json, vocab.txt and tokenizer_config.json: what is read, what is refused and with which words.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crossbill/error.hpp"
#include "golden_files.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/utf8.hpp"

namespace crossbill::tokenizer {
namespace {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "crossbill-tokenizer-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("no temporary folder");
    }
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const char* name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A small tokenizer.json, quick to change and to parse.
nlohmann::json small_json() {
  nlohmann::json json = base_tokenizer_json();
  json["model"]["vocab"] = {{"[PAD]", 0},  {"[UNK]", 1}, {"[CLS]", 2}, {"[SEP]", 3},
                            {"[MASK]", 4}, {"a", 5},     {"##b", 6}};
  for (std::size_t i = 0; i < 5; ++i) {
    json["added_tokens"][i]["id"] = i;
  }
  json["post_processor"]["special_tokens"]["[CLS]"]["ids"] = {2};
  json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = {3};
  return json;
}

Tokenizer small_tokenizer(const nlohmann::json& json) {
  TokenizerFiles files = parse_tokenizer_json(json.dump(), "tokenizer.json");
  return {files.settings, files.vocabulary};
}

/// The sentence that a call refuses with; fails unless the error has this code.
std::string refusal(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string json_refusal(ErrorCode code, const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json json = small_json();
  change(json);
  return refusal(code, [&] { small_tokenizer(json); });
}

#define EXPECT_SAYS(sentence, part) EXPECT_NE((sentence).find(part), std::string::npos) << (sentence)

void expect_same_encodings(const Tokenizer& a, const Tokenizer& b) {
  for (const auto& line : read_json_lines(golden_folder() / "texts.jsonl")) {
    const std::string text = golden_text(line["text"]);
    const Tokenization first = a.explain(text, whole());
    const Tokenization second = b.explain(text, whole());
    EXPECT_EQ(first.ids, second.ids) << line["id"];
    EXPECT_EQ(first.tokens, second.tokens) << line["id"];
    EXPECT_EQ(first.offsets, second.offsets) << line["id"];
  }
}

Tokenizer open(const std::filesystem::path& folder) {
  TokenizerFiles files = read_tokenizer_files(folder);
  return {files.settings, files.vocabulary};
}

TEST(TokenizerFiles, L4_VocabTxtGivesTheSameAsTokenizerJson) {
  const Folder with_json;
  with_json.write("tokenizer.json", base_tokenizer_json().dump());
  const Folder with_vocab;
  with_vocab.write("vocab.txt", read_golden(golden_folder() / "vocab.txt"));
  expect_same_encodings(open(with_json.path()), open(with_vocab.path()));
  with_vocab.write(
      "tokenizer_config.json",
      R"({"do_lower_case": true, "strip_accents": null, "tokenize_chinese_chars": true, "cls_token": "[CLS]",
                       "sep_token": {"content": "[SEP]", "lstrip": false, "rstrip": false, "normalized": false},
                       "tokenizer_class": "BertTokenizer", "model_max_length": 512})");
  expect_same_encodings(open(with_json.path()), open(with_vocab.path()));
  EXPECT_EQ(open(with_vocab.path()).settings().model_max_length, 512U);
  EXPECT_EQ(open(with_json.path()).settings().model_max_length, std::nullopt);
}

TEST(TokenizerFiles, ConfigOfACasedModelIsFollowed) {
  const Folder folder;
  folder.write("vocab.txt", "<unk>\n<s>\n</s>\nHello\nhello\n<x>\n的的\n");
  folder.write(
      "tokenizer_config.json",
      R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false, "unk_token": "<unk>",
                   "cls_token": {"content": "<s>"}, "sep_token": "</s>", "tokenizer_class": "BertTokenizerFast",
                   "added_tokens_decoder": {"5": {"content": "<x>", "special": true, "normalized": false, "lstrip": false,
                   "rstrip": false, "single_word": false}}})");
  const Tokenizer tokenizer = open(folder.path());
  EXPECT_EQ(ids_of(tokenizer, "Hello hello<x>的的 what"), (std::vector<std::int32_t>{3, 4, 5, 6, 0}));
  EXPECT_EQ(tokenizer.settings().cls_id, 1);
  EXPECT_EQ(tokenizer.settings().sep_id, 2);
  EXPECT_EQ(tokenizer.settings().strip_accents, true);
}

TEST(TokenizerFiles, T26_AHugeModelMaxLengthIsNoLimit) {
  const Folder folder;
  folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  folder.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(open(folder.path()).settings().model_max_length, std::nullopt);
  folder.write("tokenizer_config.json", R"({"model_max_length": 1e400})");
  EXPECT_SAYS(refusal(ErrorCode::bad_model, [&] { open(folder.path()); }), "tokenizer_config.json");
  folder.write("tokenizer_config.json", R"({"model_max_length": 0})");
  EXPECT_SAYS(refusal(ErrorCode::bad_model, [&] { open(folder.path()); }), "model_max_length is 0");
}

TEST(TokenizerFiles, T28_OtherKindsAreRefusedByName) {
  const auto code = ErrorCode::unsupported_model;
  for (const char* type : {"Unigram", "BPE", "WordLevel"}) {
    EXPECT_SAYS(json_refusal(code,
                             [&](auto& json) {
                               json["model"] = {{"type", type}, {"vocab", nullptr}};
                             }),
                std::string("tokenizer.json: model is \"") + type);
  }
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["normalizer"]["type"] = "NFKC"; }),
              "normalizer is \"NFKC\"");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["pre_tokenizer"]["type"] = "Whitespace"; }),
              "pre_tokenizer is \"Whitespace\"");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["pre_tokenizer"] = nullptr; }),
              "pre_tokenizer is null");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["post_processor"]["type"] = "RobertaProcessing"; }),
              "post_processor is \"RobertaProcessing\"");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["post_processor"] = nullptr; }),
              "post_processor is null");
  const Folder folder;
  folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  EXPECT_SAYS(refusal(code, [&] { open(folder.path()); }), "XLMRobertaTokenizer");
}

TEST(TokenizerFiles, TemplatesOfAnotherShapeAreRefused) {
  const auto code = ErrorCode::unsupported_model;
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["post_processor"]["pair"].erase(4); }),
              "another shape");
  EXPECT_SAYS(json_refusal(code,
                           [](auto& json) {
                             std::swap(json["post_processor"]["pair"][1], json["post_processor"]["pair"][3]);
                           }),
              "another shape");
  EXPECT_SAYS(json_refusal(
                  code, [](auto& json) { json["post_processor"]["pair"][4]["SpecialToken"]["type_id"] = 0; }),
              "changes token types");
  EXPECT_SAYS(json_refusal(code,
                           [](auto& json) {
                             json["post_processor"]["special_tokens"]["[SEP]"]["ids"] = {3, 3};
                           }),
              "a list of 2");
  EXPECT_SAYS(json_refusal(ErrorCode::bad_model,
                           [](auto& json) { json["post_processor"]["special_tokens"].erase("[SEP]"); }),
              "\"[SEP]\" is missing");
}

TEST(TokenizerFiles, FormsThatMeanTheSameAreRead) {
  nlohmann::json json = small_json();
  json["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  json["normalizer"] = {{"type", "Sequence"}, {"normalizers", {json["normalizer"]}}};
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {json["pre_tokenizer"]}}};
  const Tokenizer tokenizer = small_tokenizer(json);
  EXPECT_EQ(tokenizer.encode("AB", "a", {}).ids, (std::vector<std::int32_t>{2, 5, 6, 3, 5, 3}));
  EXPECT_EQ(tokenizer.encode("AB", "a", {}).type_ids, (std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1}));
  json["normalizer"] = nullptr;  // text as it is
  EXPECT_EQ(ids_of(small_tokenizer(json), "AB ab"), (std::vector<std::int32_t>{1, 5, 6}));
}

TEST(TokenizerFiles, DamagedFieldsAreNamed) {
  const auto code = ErrorCode::bad_model;
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json.erase("model"); }),
              "tokenizer.json: the field \"model\" is missing");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = -1; }),
              "model: vocab: \"a\" is -1");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = 4294967301; }),
              "\"a\" is 4294967301");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = 18446744073709551615ULL; }),
              "\"a\" is 184");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = 2000000000; }),
              "id 2000000000, outside");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = 6; }), "both have id 6");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["vocab"]["a"] = "5"; }), "\"a\" is \"5\"");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["model"]["unk_token"] = 1; }),
              "unk_token is 1, but should be a string");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["normalizer"]["lowercase"] = "yes"; }),
              "lowercase is \"yes\"");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["added_tokens"][1]["id"] = 0; }), "added_tokens[1]");
  EXPECT_SAYS(json_refusal(code,
                           [](auto& json) {
                             json["added_tokens"][1]["id"] = 4;
                             json["added_tokens"].erase(4);
                           }),
              "\"[UNK]\" with id 4 has id 1 in the vocabulary");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json["added_tokens"][1]["content"] = "new"; }),
              "\"new\" with id 1 has the id of \"[UNK]\"");
  EXPECT_SAYS(json_refusal(code,
                           [](auto& json) {
                             json["added_tokens"][1]["content"] = "";
                             json["model"]["vocab"].erase("[UNK]");
                           }),
              "id 1 is empty");
  EXPECT_SAYS(
      json_refusal(code, [](auto& json) { json["post_processor"]["special_tokens"]["[CLS]"]["ids"] = {7}; }),
      "7 of [CLS] is outside the vocabulary");
  EXPECT_SAYS(json_refusal(code, [](auto& json) { json = nlohmann::json::array({json}); }), "a list of 1");
}

TEST(TokenizerFiles, ControlCharactersDoNotReachTheMessage) {
  const std::string hostile = "\x1b[2J" + repeat("é", 1000);
  const auto expect_tame = [](const std::string& sentence) {
    EXPECT_EQ(sentence.find('\x1b'), std::string::npos);
    EXPECT_NE(sentence.find("\\x1b[2Jé"), std::string::npos) << sentence;
    EXPECT_LT(sentence.size(), 500U);
    EXPECT_EQ(replace_invalid(sentence), sentence);  // no character is cut in two
  };
  const auto unsupported = ErrorCode::unsupported_model;
  expect_tame(json_refusal(unsupported, [&](auto& json) { json["model"]["type"] = hostile; }));
  expect_tame(json_refusal(unsupported, [&](auto& json) { json["normalizer"]["type"] = hostile; }));
  expect_tame(json_refusal(ErrorCode::bad_model, [&](auto& json) { json["model"]["vocab"][hostile] = -1; }));
  expect_tame(
      json_refusal(ErrorCode::bad_model, [&](auto& json) { json["added_tokens"][1]["content"] = hostile; }));
  expect_tame(json_refusal(ErrorCode::bad_model, [&](auto& json) {
    for (const char* form : {"single", "pair"}) {
      json["post_processor"][form][0]["SpecialToken"]["id"] = hostile;
    }
  }));
}

TEST(TokenizerFiles, TextThatIsNoSoundJsonIsRefused) {
  const auto refused = [](const std::string& text) {
    return refusal(ErrorCode::bad_model, [&] { parse_tokenizer_json(text, "t.json"); });
  };
  EXPECT_SAYS(refused(""), "t.json: not valid JSON at byte");
  EXPECT_SAYS(refused("{\"model\": {}"), "not valid JSON at byte");
  EXPECT_SAYS(refused("{\"model\": \"\xFF\"}"), "not valid JSON at byte");
  EXPECT_SAYS(refused("{\"a\": 1, \"a\": 2}"), "the key \"a\" stands twice");
  EXPECT_SAYS(refused("{\"x\": {\"b\": 1, \"c\": {\"b\": 1}, \"b\": 2}}"), "the key \"b\" stands twice");
  EXPECT_SAYS(refused(std::string(1000000, '[')), "nested more than 32 deep");
  EXPECT_SAYS(refused(repeat("{\"a\":", 1000000)), "nested more than 32 deep");
  EXPECT_SAYS(refused("{\"model\": 1" + std::string(100000, '0') + "}"), "too large");
}

TEST(TokenizerFiles, WhatCannotBeReadIsNamed) {
  const Folder folder;
  EXPECT_SAYS(refusal(ErrorCode::file_error, [&] { open(folder.path()); }), folder.path().string());
  EXPECT_SAYS(refusal(ErrorCode::file_error, [&] { open(folder.path() / "nowhere"); }),
              "neither tokenizer.json nor vocab.txt");
  folder.write("vocab.txt", "a\n\xFF\n");
  EXPECT_SAYS(refusal(ErrorCode::bad_model, [&] { open(folder.path()); }), "vocab.txt: not valid UTF-8");
  folder.write("vocab.txt", "[UNK]\n[SEP]\n");
  EXPECT_SAYS(refusal(ErrorCode::bad_model, [&] { open(folder.path()); }), "\"[CLS]\" is not in vocab.txt");
  folder.write("vocab.txt", "");
  EXPECT_SAYS(refusal(ErrorCode::bad_model, [&] { open(folder.path()); }), "is not in vocab.txt");
  std::filesystem::create_directory(folder.path() / "tokenizer.json");
  EXPECT_SAYS(refusal(ErrorCode::file_error, [&] { open(folder.path()); }), "tokenizer.json: not a file");
}

}  // namespace
}  // namespace crossbill::tokenizer
