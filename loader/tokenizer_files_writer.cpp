#include "loader/tokenizer_files_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loader/replacing_file.hpp"
#include "tokenizer/huggingface_files.hpp"

namespace crossbill::loader {
namespace {

using Json = nlohmann::ordered_json;
using tokenizer::Settings;
using tokenizer::Vocabulary;

void write_text(const std::filesystem::path& path, std::string_view text) {
  ReplacingFile file(path);
  file.append(text);
  file.commit();
}

Json optional_flag(const std::optional<bool>& flag) {
  return flag ? Json(*flag) : Json(nullptr);
}

Json special_step(const std::string& token, int type) {
  return {{"SpecialToken", {{"id", token}, {"type_id", type}}}};
}

Json sequence_step(const char* side, int type) {
  return {{"Sequence", {{"id", side}, {"type_id", type}}}};
}

/// [CLS] A [SEP] and [CLS] A [SEP] B [SEP].
Json post_processor(const Settings& settings, const std::string& cls, const std::string& sep) {
  const int first = settings.first_type_id;
  const int second = settings.second_type_id;
  Json json;
  json["type"] = "TemplateProcessing";
  json["single"] = {special_step(cls, first), sequence_step("A", first), special_step(sep, first)};
  json["pair"] = {special_step(cls, first), sequence_step("A", first), special_step(sep, first),
                  sequence_step("B", second), special_step(sep, second)};
  for (const auto& [token, id] : {std::pair(cls, settings.cls_id), std::pair(sep, settings.sep_id)}) {
    json["special_tokens"][token] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  }
  return json;
}

/// Of a token that the vocabulary has, or an added token beyond it.
std::string spelling(std::int32_t id, const Settings& settings, const Vocabulary& vocabulary) {
  for (const auto& token : settings.added_tokens) {
    if (token.id == id) {
      return token.content;
    }
  }
  return std::string(vocabulary.token(id));
}

/// Token → id. A gap has no spelling; an empty token is told from a gap by being found.
nlohmann::json vocabulary_map(const Vocabulary& vocabulary) {
  nlohmann::json map = nlohmann::json::object();
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const std::string_view token = vocabulary.token(id);
    if (vocabulary.find(token) == id) {
      map[std::string(token)] = id;
    }
  }
  return map;
}

Json tokenizer_json(const Settings& settings, const Vocabulary& vocabulary) {
  Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = Json::array();
  for (const auto& token : settings.added_tokens) {
    json["added_tokens"].push_back({{"id", token.id},
                                    {"content", token.content},
                                    {"single_word", token.single_word},
                                    {"lstrip", token.lstrip},
                                    {"rstrip", token.rstrip},
                                    {"normalized", token.normalized},
                                    {"special", token.special}});
  }
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", settings.clean_text},
                        {"handle_chinese_chars", settings.handle_chinese_chars},
                        {"strip_accents", optional_flag(settings.strip_accents)},
                        {"lowercase", settings.lowercase}};
  json["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  json["post_processor"] = post_processor(settings, spelling(settings.cls_id, settings, vocabulary),
                                          spelling(settings.sep_id, settings, vocabulary));
  json["decoder"] = {
      {"type", "WordPiece"}, {"prefix", settings.continuing_subword_prefix}, {"cleanup", true}};
  json["model"] = {{"type", "WordPiece"},
                   {"unk_token", settings.unk_token},
                   {"continuing_subword_prefix", settings.continuing_subword_prefix},
                   {"max_input_chars_per_word", settings.max_input_chars_per_word},
                   {"vocab", vocabulary_map(vocabulary)}};
  return json;
}

Json tokenizer_config(const Settings& settings, const Vocabulary& vocabulary) {
  Json json;
  json["tokenizer_class"] = "BertTokenizer";
  json["do_lower_case"] = settings.lowercase;
  json["strip_accents"] = optional_flag(settings.strip_accents);
  json["tokenize_chinese_chars"] = settings.handle_chinese_chars;
  json["unk_token"] = settings.unk_token;
  json["cls_token"] = spelling(settings.cls_id, settings, vocabulary);
  json["sep_token"] = spelling(settings.sep_id, settings, vocabulary);
  for (const auto& [key, token] : {std::pair("pad_token", "[PAD]"), std::pair("mask_token", "[MASK]")}) {
    if (vocabulary.find(token)) {
      json[key] = token;
    }
  }
  if (settings.model_max_length) {
    json["model_max_length"] = *settings.model_max_length;
  }
  return json;
}

}  // namespace

void write_tokenizer_files(const std::filesystem::path& folder, const Settings& settings,
                           const Vocabulary& vocabulary) {
  std::string lines;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    lines += std::string(vocabulary.token(static_cast<std::int32_t>(id))) + "\n";
  }
  if (std::ranges::equal(tokenizer::parse_vocab_txt(lines).block(), vocabulary.block())) {
    write_text(folder / "vocab.txt", lines);
  }
  write_text(folder / "tokenizer.json", tokenizer_json(settings, vocabulary).dump(1) + "\n");
  write_text(folder / "tokenizer_config.json", tokenizer_config(settings, vocabulary).dump(2) + "\n");
}

}  // namespace crossbill::loader
