#include "tokenizer/tokenizer_config.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "crossbill/error.hpp"
#include "tokenizer/json_field.hpp"
#include "tokenizer/message.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

/// Anything from here on means "no limit"; no model has that many positions.
constexpr double kNoLimit = 1e9;

bool flag(const JsonField& config, const char* key, bool otherwise) {
  const auto field = config.find(key);
  return field ? field->boolean() : otherwise;
}

/// A special token is named by a string, or by an object with its content and flags.
AddedToken read_token(const JsonField& field) {
  AddedToken token;
  if (field.is_text()) {
    token.content = field.text();
    return token;
  }
  token.content = field.at("content").text();
  token.single_word = flag(field, "single_word", false);
  token.lstrip = flag(field, "lstrip", false);
  token.rstrip = flag(field, "rstrip", false);
  token.normalized = flag(field, "normalized", false);
  token.special = flag(field, "special", false);
  return token;
}

/// added_tokens_decoder: {"101": {"content": "[CLS]", …}, …}
void read_added_tokens_decoder(const JsonField& config, Settings& settings) {
  const auto decoder = config.find("added_tokens_decoder");
  if (!decoder) {
    return;
  }
  std::unordered_set<std::int32_t> ids;
  std::unordered_set<std::string> contents;
  for (const auto& [key, value] : decoder->object()) {
    const JsonField field(value, decoder->where() + ": " + in_quotes(key));
    AddedToken token = read_token(field);
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size() || token.id < 0) {
      field.refuse("under a key that is an id");
    }
    if (!ids.insert(token.id).second || !contents.insert(token.content).second) {
      throw Error(ErrorCode::bad_model, field.where() + ": another added token has the same id or content");
    }
    settings.added_tokens.push_back(token);
  }
  // Keys are sorted as strings; lists of ids read better by number.
  std::sort(settings.added_tokens.begin(), settings.added_tokens.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
}

/// Adds a special token by its name, unless added_tokens_decoder had it. One that the vocabulary lacks has no
/// id that a model could have learnt; it is left out.
std::optional<std::int32_t> add_special(AddedToken token, const Vocabulary& vocabulary, Settings& settings) {
  for (const AddedToken& other : settings.added_tokens) {
    if (other.content == token.content) {
      return other.id;
    }
  }
  const auto id = vocabulary.find(token.content);
  if (id) {
    token.id = *id;
    token.special = true;
    settings.added_tokens.push_back(token);
  }
  return id;
}

AddedToken named(const JsonField& config, const char* key, const char* otherwise) {
  const auto field = config.find(key);
  AddedToken token;
  token.content = otherwise;
  return field ? read_token(*field) : token;
}

std::int32_t required_id(const JsonField& config, const AddedToken& token, std::optional<std::int32_t> id) {
  if (!id) {
    throw Error(ErrorCode::bad_model,
                config.where() + ": the token " + in_quotes(token.content) + " is not in vocab.txt");
  }
  return *id;
}

}  // namespace

std::optional<std::size_t> read_model_max_length(const JsonField& config) {
  const auto field = config.find("model_max_length");
  if (!field) {
    return std::nullopt;
  }
  const double length = field->number();
  if (!(length >= 1)) {
    field->refuse("at least 1");
  }
  return length < kNoLimit ? std::optional(static_cast<std::size_t>(length)) : std::nullopt;
}

void check_tokenizer_class(const JsonField& config) {
  const auto field = config.find("tokenizer_class");
  if (field && field->text() != "BertTokenizer" && field->text() != "BertTokenizerFast") {
    throw Error(ErrorCode::unsupported_model, field->where() + " is " + in_quotes(field->text()) +
                                                  "; without a tokenizer.json Crossbill reads BertTokenizer");
  }
}

Settings read_tokenizer_config(const JsonField& config, const Vocabulary& vocabulary) {
  Settings settings;
  settings.lowercase = flag(config, "do_lower_case", true);
  settings.handle_chinese_chars = flag(config, "tokenize_chinese_chars", true);
  if (const auto strip = config.find("strip_accents")) {
    settings.strip_accents = strip->boolean();
  }
  settings.model_max_length = read_model_max_length(config);
  read_added_tokens_decoder(config, settings);
  const AddedToken unknown = named(config, "unk_token", "[UNK]");
  const AddedToken separator = named(config, "sep_token", "[SEP]");
  const AddedToken classifier = named(config, "cls_token", "[CLS]");
  settings.unk_token = unknown.content;
  add_special(named(config, "pad_token", "[PAD]"), vocabulary, settings);
  add_special(unknown, vocabulary, settings);
  settings.cls_id = required_id(config, classifier, add_special(classifier, vocabulary, settings));
  settings.sep_id = required_id(config, separator, add_special(separator, vocabulary, settings));
  add_special(named(config, "mask_token", "[MASK]"), vocabulary, settings);
  if (const auto more = config.find("additional_special_tokens")) {
    for (const JsonField& field : more->elements()) {
      add_special(read_token(field), vocabulary, settings);
    }
  }
  return settings;
}

}  // namespace crossbill::tokenizer
