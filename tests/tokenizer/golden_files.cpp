#include "golden_files.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/huggingface_files.hpp"

namespace crossbill::tokenizer {

std::filesystem::path golden_folder() {
  return std::filesystem::path(CROSSBILL_TEST_DATA) / "tokenizer";
}

std::optional<std::filesystem::path> big_data_folder() {
  const char* folder = std::getenv("CROSSBILL_DATA");
  return folder != nullptr && *folder != '\0' ? std::optional<std::filesystem::path>(folder) : std::nullopt;
}

std::string read_golden(const std::filesystem::path& path) {
  // gzread hands files that are not gzip'd through as they are.
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw std::runtime_error("can't open " + path.string());
  }
  std::string content;
  std::vector<char> buffer(1 << 16);
  int got = 0;
  while ((got = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  gzclose(file);
  if (got < 0) {
    throw std::runtime_error("can't read " + path.string());
  }
  return content;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  for (const std::string& line : split(read_golden(path), '\n')) {
    if (!line.empty()) {
      lines.push_back(nlohmann::json::parse(line));
    }
  }
  return lines;
}

std::string golden_text(const nlohmann::json& text) {
  if (text.is_string()) {
    return text.get<std::string>();
  }
  if (text.contains("repeat")) {
    return repeat(text["repeat"][0].get<std::string>(), text["repeat"][1].get<std::size_t>());
  }
  std::string all;
  for (const auto& part : text.at("concat")) {
    all += golden_text(part);
  }
  return all;
}

std::vector<std::int32_t> unroll(const nlohmann::json& list) {
  std::vector<std::int32_t> values;
  for (const auto& item : list) {
    if (item.is_array()) {
      values.insert(values.end(), item[1].get<std::size_t>(), item[0].get<std::int32_t>());
    } else {
      values.push_back(item.get<std::int32_t>());
    }
  }
  return values;
}

const Vocabulary& base_vocabulary() {
  static const Vocabulary vocabulary = parse_vocab_txt(read_golden(golden_folder() / "vocab.txt"));
  return vocabulary;
}

Settings base_settings() {
  Settings settings;
  settings.cls_id = 101;
  settings.sep_id = 102;
  for (const auto& [content, id] : std::vector<std::pair<std::string, std::int32_t>>{
           {"[PAD]", 0}, {"[UNK]", 100}, {"[CLS]", 101}, {"[SEP]", 102}, {"[MASK]", 103}}) {
    AddedToken token;
    token.id = id;
    token.content = content;
    token.special = true;
    settings.added_tokens.push_back(token);
  }
  return settings;
}

const Tokenizer& base_tokenizer() {
  static const Tokenizer tokenizer(base_settings(), base_vocabulary());
  return tokenizer;
}

Settings settings_with(const nlohmann::json& norm) {
  Settings settings = base_settings();
  settings.clean_text = norm.value("clean_text", true);
  settings.handle_chinese_chars = norm.value("handle_chinese_chars", true);
  settings.lowercase = norm.value("lowercase", true);
  if (norm.contains("strip_accents") && !norm["strip_accents"].is_null()) {
    settings.strip_accents = norm["strip_accents"].get<bool>();
  }
  return settings;
}

AddedToken added_token(const nlohmann::json& token, std::int32_t id) {
  AddedToken added;
  added.id = id;
  added.content = token.at("content").get<std::string>();
  added.single_word = token.at("single_word").get<bool>();
  added.lstrip = token.at("lstrip").get<bool>();
  added.rstrip = token.at("rstrip").get<bool>();
  added.normalized = token.at("normalized").get<bool>();
  added.special = token.at("special").get<bool>();
  return added;
}

nlohmann::json base_tokenizer_json() {
  nlohmann::json json = nlohmann::json::parse(R"({
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
    "padding": {"strategy": {"Fixed": 128}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                "pad_type_id": 0, "pad_token": "[PAD]"},
    "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                   "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
      "type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                 {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
      "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
               {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]},
                         "[SEP]": {"id": "[SEP]", "ids": [102], "tokens": ["[SEP]"]}}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100, "vocab": {}}})");
  for (const AddedToken& token : base_settings().added_tokens) {
    json["added_tokens"].push_back({{"id", token.id},
                                    {"content", token.content},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  auto& vocabulary = json["model"]["vocab"];
  for (std::size_t id = 0; id < base_vocabulary().size(); ++id) {
    vocabulary[std::string(base_vocabulary().token(static_cast<std::int32_t>(id)))] = id;
  }
  return json;
}

std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, std::string_view text, bool as_text) {
  const std::vector<std::int32_t> ids = tokenizer.explain(text, whole(as_text)).ids;
  return {ids.begin() + 1, ids.end() - 1};
}

std::vector<std::vector<std::uint32_t>> as_lists(const std::vector<TokenOffset>& offsets) {
  std::vector<std::vector<std::uint32_t>> lists;
  for (const TokenOffset& offset : offsets) {
    lists.push_back({offset.begin, offset.end});
  }
  return lists;
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

EncodeOptions whole(bool special_tokens_as_text) {
  EncodeOptions options;
  options.max_length = std::size_t{1} << 30;
  options.special_tokens_as_text = special_tokens_as_text;
  return options;
}

}  // namespace crossbill::tokenizer
