#include "loader/cbm_metadata.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "crossbill/error.hpp"
#include "loader/config.hpp"
#include "loader/strict_json.hpp"

namespace crossbill::loader {
namespace {

using tokenizer::AddedToken;
using tokenizer::Settings;

constexpr std::size_t kMostId = std::numeric_limits<std::int32_t>::max();
// How the weights were quantised; a name for people, since the file itself says all that a reader needs.
constexpr const char* kQuantiser = "symmetric s8 per output channel, pair bound 128";

nlohmann::ordered_json write_settings(const Settings& settings) {
  nlohmann::ordered_json json;
  json["type"] = "WordPiece";
  json["clean_text"] = settings.clean_text;
  json["handle_chinese_chars"] = settings.handle_chinese_chars;
  json["strip_accents"] = nullptr;
  if (settings.strip_accents) {
    json["strip_accents"] = *settings.strip_accents;
  }
  json["lowercase"] = settings.lowercase;
  json["unk_token"] = settings.unk_token;
  json["continuing_subword_prefix"] = settings.continuing_subword_prefix;
  json["max_input_chars_per_word"] = settings.max_input_chars_per_word;
  json["cls_id"] = settings.cls_id;
  json["sep_id"] = settings.sep_id;
  json["first_type_id"] = settings.first_type_id;
  json["second_type_id"] = settings.second_type_id;
  json["model_max_length"] = nullptr;
  if (settings.model_max_length) {
    json["model_max_length"] = *settings.model_max_length;
  }
  json["added_tokens"] = nlohmann::ordered_json::array();
  for (const AddedToken& token : settings.added_tokens) {
    json["added_tokens"].push_back({{"id", token.id},
                                    {"content", token.content},
                                    {"single_word", token.single_word},
                                    {"lstrip", token.lstrip},
                                    {"rstrip", token.rstrip},
                                    {"normalized", token.normalized},
                                    {"special", token.special}});
  }
  return json;
}

Settings read_settings(const JsonFields& fields) {
  if (const std::string type = fields.text("type"); type != "WordPiece") {
    fields.refuse("type", "\"WordPiece\"");
  }
  Settings settings;
  settings.clean_text = fields.boolean("clean_text");
  settings.handle_chinese_chars = fields.boolean("handle_chinese_chars");
  settings.strip_accents = fields.optional_boolean("strip_accents");
  settings.lowercase = fields.boolean("lowercase");
  settings.unk_token = fields.text("unk_token");
  settings.continuing_subword_prefix = fields.text("continuing_subword_prefix");
  settings.max_input_chars_per_word = fields.integer("max_input_chars_per_word", 0, kMostId);
  settings.cls_id = static_cast<std::int32_t>(fields.integer("cls_id", 0, kMostId));
  settings.sep_id = static_cast<std::int32_t>(fields.integer("sep_id", 0, kMostId));
  settings.first_type_id = static_cast<std::uint8_t>(fields.integer("first_type_id", 0, 255));
  settings.second_type_id = static_cast<std::uint8_t>(fields.integer("second_type_id", 0, 255));
  settings.model_max_length =
      fields.optional_integer("model_max_length", 0, std::numeric_limits<std::size_t>::max());
  for (const auto& entry : fields.array("added_tokens")) {
    const JsonFields token(entry, fields.where() + ": field \"added_tokens\"");
    settings.added_tokens.push_back({static_cast<std::int32_t>(token.integer("id", 0, kMostId)),
                                     token.text("content"), token.boolean("single_word"),
                                     token.boolean("lstrip"), token.boolean("rstrip"),
                                     token.boolean("normalized"), token.boolean("special")});
  }
  return settings;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string write_cbm_metadata(const CbmMetadata& metadata) {
  nlohmann::ordered_json json;
  json["weights"] = metadata.weights == PackedWeights::int8 ? "int8" : "f16";
  if (metadata.weights == PackedWeights::int8) {
    json["quantiser"] = kQuantiser;
  }
  if (!metadata.source_sha256.empty()) {
    json["source_sha256"] = metadata.source_sha256;
  }
  json["config"] = nlohmann::ordered_json::parse(write_config_json(metadata.config));
  json["tokenizer"] = write_settings(metadata.tokenizer_settings);
  return json.dump(1);
}

CbmMetadata parse_cbm_metadata(std::string_view json, const std::string& where) {
  const nlohmann::json tree = parse_strict_json(json, where);
  const JsonFields fields(tree, where);
  CbmMetadata metadata;
  const std::string weights = fields.text("weights");
  if (weights != "int8" && weights != "f16") {
    fields.refuse("weights", "\"int8\" or \"f16\"");
  }
  metadata.weights = weights == "int8" ? PackedWeights::int8 : PackedWeights::f16;
  metadata.source_sha256 = fields.optional_text("source_sha256").value_or("");
  if (!metadata.source_sha256.empty() && !is_sha256(metadata.source_sha256)) {
    fields.refuse("source_sha256", "64 lower-case hexadecimal digits");
  }
  metadata.config = read_config(fields.object("config"));
  metadata.tokenizer_settings = read_settings(fields.object("tokenizer"));
  return metadata;
}

}  // namespace crossbill::loader
