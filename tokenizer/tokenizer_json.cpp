// tokenizer.json, the file format of the Hugging Face `tokenizers` library.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "tokenizer/huggingface_files.hpp"
#include "tokenizer/json_field.hpp"
#include "tokenizer/message.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

constexpr std::int64_t kLargestId = INT32_MAX;
constexpr const char* kTemplate = "[CLS] A [SEP] and [CLS] A [SEP] B [SEP]";

[[noreturn]] void unsupported(const JsonField& field, const std::string& found, const std::string& expected) {
  throw Error(
      ErrorCode::unsupported_model,
      field.where() + " is " + found + "; Crossbill runs BERT WordPiece tokenizers, which have " + expected);
}

void read_normaliser(const JsonField& root, Settings& settings) {
  settings.clean_text = false;
  settings.handle_chinese_chars = false;
  settings.strip_accents = false;
  settings.lowercase = false;
  std::optional<JsonField> field = root.find("normalizer");
  if (!field) {
    return;  // text is taken as it is
  }
  if (field->at("type").text() == "Sequence") {
    const auto steps = field->at("normalizers").elements();
    if (steps.size() != 1) {
      unsupported(*field, "a Sequence of " + std::to_string(steps.size()), "one BertNormalizer");
    }
    field = steps.front();
  }
  if (field->at("type").text() != "BertNormalizer") {
    unsupported(*field, in_quotes(field->at("type").text()), "a BertNormalizer");
  }
  settings.clean_text = field->at("clean_text").boolean();
  settings.handle_chinese_chars = field->at("handle_chinese_chars").boolean();
  settings.lowercase = field->at("lowercase").boolean();
  const auto strip = field->find("strip_accents");
  settings.strip_accents = strip ? std::optional(strip->boolean()) : std::nullopt;
}

void check_pre_tokenizer(const JsonField& root) {
  std::optional<JsonField> field = root.find("pre_tokenizer");
  if (!field) {
    unsupported(root.at("pre_tokenizer"), "null", "a BertPreTokenizer");
  }
  if (field->at("type").text() == "Sequence") {
    const auto steps = field->at("pretokenizers").elements();
    if (steps.size() != 1) {
      unsupported(*field, "a Sequence of " + std::to_string(steps.size()), "one BertPreTokenizer");
    }
    field = steps.front();
  }
  if (field->at("type").text() != "BertPreTokenizer") {
    unsupported(*field, in_quotes(field->at("type").text()), "a BertPreTokenizer");
  }
}

/// One step of a template: a special token by name, or a text ("A", "B").
struct TemplateStep {
  bool is_text = false;
  std::string name;
  std::uint8_t type_id = 0;
};

std::vector<TemplateStep> read_template(const JsonField& list) {
  std::vector<TemplateStep> steps;
  for (const JsonField& element : list.elements()) {
    TemplateStep step;
    std::optional<JsonField> part = element.find("Sequence");
    step.is_text = part.has_value();
    if (!part) {
      part = element.find("SpecialToken");
    }
    if (!part) {
      unsupported(element, "neither Sequence nor SpecialToken", std::string("the template ") + kTemplate);
    }
    step.name = part->at("id").text();
    step.type_id = static_cast<std::uint8_t>(part->at("type_id").integer(0, 255));
    steps.push_back(std::move(step));
  }
  return steps;
}

/// The id of a template's special token, of which it must have exactly one.
std::int32_t template_id(const JsonField& processor, const std::string& name) {
  const JsonField tokens = processor.at("special_tokens");
  const auto found = tokens.object().find(name);
  if (found == tokens.object().end()) {
    throw Error(ErrorCode::bad_model, tokens.where() + ": the field " + in_quotes(name) + " is missing");
  }
  const JsonField ids = JsonField(found->second, tokens.where() + ": " + in_quotes(name)).at("ids");
  const auto elements = ids.elements();
  if (elements.size() != 1) {
    unsupported(ids, "a list of " + std::to_string(elements.size()), "one id for each special token");
  }
  return static_cast<std::int32_t>(elements.front().integer(0, kLargestId));
}

void read_template_processing(const JsonField& processor, Settings& settings) {
  const auto single = read_template(processor.at("single"));
  const auto pair = read_template(processor.at("pair"));
  const auto special = [](const TemplateStep& step) { return !step.is_text; };
  const bool single_fits = single.size() == 3 && special(single[0]) && single[1].is_text &&
                           special(single[2]) && single[1].name == "A";
  const bool pair_fits = pair.size() == 5 && special(pair[0]) && pair[1].is_text && special(pair[2]) &&
                         pair[3].is_text && special(pair[4]) && pair[1].name == "A" && pair[3].name == "B";
  if (!single_fits || !pair_fits || pair[0].name != single[0].name || pair[2].name != single[2].name ||
      pair[4].name != pair[2].name) {
    unsupported(processor, "a template of another shape", std::string("the template ") + kTemplate);
  }
  const bool types_fit = single[0].type_id == pair[0].type_id && single[1].type_id == pair[0].type_id &&
                         single[2].type_id == pair[0].type_id && pair[1].type_id == pair[0].type_id &&
                         pair[2].type_id == pair[0].type_id && pair[4].type_id == pair[3].type_id;
  if (!types_fit) {
    unsupported(processor, "a template that changes token types elsewhere than after the first [SEP]",
                "one type for [CLS] A [SEP] and one for B [SEP]");
  }
  settings.cls_id = template_id(processor, pair[0].name);
  settings.sep_id = template_id(processor, pair[2].name);
  settings.first_type_id = pair[0].type_id;
  settings.second_type_id = pair[3].type_id;
}

/// ["[SEP]", 102]
std::int32_t bert_processing_id(const JsonField& field) {
  const auto elements = field.elements();
  if (elements.size() != 2) {
    field.refuse("a token and its id");
  }
  return static_cast<std::int32_t>(elements[1].integer(0, kLargestId));
}

void read_post_processor(const JsonField& root, Settings& settings) {
  const auto processor = root.find("post_processor");
  if (!processor) {
    unsupported(root.at("post_processor"), "null", std::string("the template ") + kTemplate);
  }
  const std::string& type = processor->at("type").text();
  if (type == "TemplateProcessing") {
    read_template_processing(*processor, settings);
  } else if (type == "BertProcessing") {
    settings.cls_id = bert_processing_id(processor->at("cls"));
    settings.sep_id = bert_processing_id(processor->at("sep"));
  } else {
    unsupported(*processor, in_quotes(type), "TemplateProcessing or BertProcessing");
  }
}

void read_added_tokens(const JsonField& root, Settings& settings) {
  const auto list = root.find("added_tokens");
  if (!list) {
    return;
  }
  std::unordered_set<std::int32_t> ids;
  std::unordered_set<std::string> contents;
  for (const JsonField& field : list->elements()) {
    AddedToken token;
    token.id = static_cast<std::int32_t>(field.at("id").integer(0, kLargestId));
    token.content = field.at("content").text();
    token.single_word = field.at("single_word").boolean();
    token.lstrip = field.at("lstrip").boolean();
    token.rstrip = field.at("rstrip").boolean();
    token.normalized = field.at("normalized").boolean();
    token.special = field.at("special").boolean();
    if (!ids.insert(token.id).second || !contents.insert(token.content).second) {
      throw Error(ErrorCode::bad_model, field.where() + ": another added token has the same id or content");
    }
    settings.added_tokens.push_back(std::move(token));
  }
}

Vocabulary read_model(const JsonField& root, Settings& settings) {
  const JsonField model = root.at("model");
  const std::string& type = model.at("type").text();
  if (type != "WordPiece") {
    unsupported(model, in_quotes(type), "a WordPiece model");
  }
  settings.unk_token = model.at("unk_token").text();
  settings.continuing_subword_prefix = model.at("continuing_subword_prefix").text();
  settings.max_input_chars_per_word =
      static_cast<std::size_t>(model.at("max_input_chars_per_word").integer(0, INT32_MAX));
  const JsonField vocabulary = model.at("vocab");
  std::vector<std::pair<std::string, std::int32_t>> tokens;
  tokens.reserve(vocabulary.object().size());
  for (const auto& [token, id] : vocabulary.object()) {
    const auto value =
        id.is_number_integer() && !(id.is_number_unsigned() && id.get<std::uint64_t>() > INT64_MAX)
            ? id.get<std::int64_t>()
            : -1;
    if (value < 0 || value > kLargestId) {
      JsonField(id, vocabulary.where() + ": " + in_quotes(token)).refuse("an id");
    }
    tokens.emplace_back(token, static_cast<std::int32_t>(value));
  }
  try {
    return Vocabulary::build(tokens);
  } catch (const Error& error) {
    throw Error(error.code(), vocabulary.where() + ": " + error.what());
  }
}

}  // namespace

TokenizerFiles parse_tokenizer_json(std::string_view json, std::string_view name) {
  const nlohmann::json document = parse_json(json, name);
  const JsonField root(document, std::string(name));
  TokenizerFiles files;
  // The model comes first: that it is Unigram says more than that its normaliser is unknown.
  files.vocabulary = read_model(root, files.settings);
  read_normaliser(root, files.settings);
  check_pre_tokenizer(root);
  read_post_processor(root, files.settings);
  read_added_tokens(root, files.settings);
  return files;
}

}  // namespace crossbill::tokenizer
