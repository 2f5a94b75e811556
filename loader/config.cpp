#include "loader/config.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/message.hpp"
#include "loader/strict_json.hpp"

namespace crossbill::loader {
namespace {

// No BERT comes near these. They keep products of sizes far from overflow, and what is allocated for a config
// far below what a machine has.
constexpr std::size_t kMostLayers = 1024;
constexpr std::size_t kMostHidden = 65'536;
constexpr std::size_t kMostIntermediate = 131'072;  // an s32 accumulator of u8·s8 products holds this many
constexpr std::size_t kMostVocabulary = 16'777'216;
constexpr std::size_t kMostPositions = 1'048'576;
constexpr std::size_t kMostTokenTypes = 256;  // a token type is one byte
constexpr std::size_t kMostLabels = 65'536;

constexpr const char* kArchitecture = "BertForSequenceClassification";
constexpr const char* kIdentity = "torch.nn.modules.linear.Identity";
constexpr const char* kSigmoid = "torch.nn.modules.activation.Sigmoid";

[[noreturn]] void unsupported(const JsonFields& fields, const std::string& what) {
  throw Error(ErrorCode::unsupported_model, fields.where() + ": " + what);
}

void check_architecture(const JsonFields& fields) {
  if (fields.find("architectures") != nullptr) {
    const nlohmann::json& names = fields.array("architectures");
    std::string listed;
    for (const auto& name : names) {
      if (!name.is_string()) {
        fields.refuse("architectures", "a list of strings");
      }
      if (name == kArchitecture) {
        listed.clear();
        break;
      }
      listed = name.get<std::string>();
    }
    if (listed == "BertModel") {
      unsupported(
          fields,
          "no classification head: the architecture is \"BertModel\", a bare encoder; Crossbill runs " +
              std::string(kArchitecture));
    }
    if (!listed.empty()) {
      unsupported(fields, "the architecture " + in_quotes(listed) + " is not supported; Crossbill runs " +
                              kArchitecture);
    }
  }
  const auto type = fields.optional_text("model_type");
  if (type && *type != "bert") {
    unsupported(fields, "model_type " + in_quotes(*type) + " is not supported; Crossbill runs \"bert\"");
  }
  const auto positions = fields.optional_text("position_embedding_type");
  if (positions && *positions != "absolute") {
    unsupported(fields, "position_embedding_type " + in_quotes(*positions) +
                            " is not supported; it has to be \"absolute\"");
  }
  if (fields.optional_boolean("is_decoder").value_or(false)) {
    unsupported(fields, "is_decoder is true; Crossbill runs encoders");
  }
}

HiddenActivation read_hidden_act(const JsonFields& fields) {
  const std::string name = fields.optional_text("hidden_act").value_or("gelu");
  if (name == "gelu") {
    return HiddenActivation::gelu_erf;
  }
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    return HiddenActivation::gelu_tanh;
  }
  if (name == "relu") {
    return HiddenActivation::relu;
  }
  unsupported(
      fields,
      "hidden_act " + in_quotes(name) +
          " is not supported; it has to be \"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\" or \"relu\"");
}

ScoreActivation read_score_activation(const JsonFields& fields) {
  std::optional<std::string> name;
  if (const auto nested = fields.optional_object("sentence_transformers")) {
    name = nested->optional_text("activation_fn");
  }
  if (!name) {
    name = fields.optional_text("sbert_ce_default_activation_function");
  }
  if (!name || *name == kIdentity) {
    return ScoreActivation::identity;
  }
  if (*name == kSigmoid) {
    return ScoreActivation::sigmoid;
  }
  unsupported(fields, "the activation " + in_quotes(*name) + " is not supported; it has to be \"" +
                          kIdentity + "\" or \"" + kSigmoid + "\"");
}

/// The number that a key of id2label stands for, if it is one below `count` in plain decimal.
std::optional<std::size_t> label_id(const std::string& key, std::size_t count) {
  std::size_t id = 0;
  const char* end = key.data() + key.size();
  const auto [stopped, error] = std::from_chars(key.data(), end, id);
  if (error != std::errc{} || stopped != end || id >= count || (key.size() > 1 && key[0] == '0')) {
    return std::nullopt;
  }
  return id;
}

/// As Hugging Face counts labels: id2label where there is one, else num_labels, else two.
std::vector<std::string> read_labels(const JsonFields& fields) {
  const auto stated = fields.optional_integer("num_labels", 1, kMostLabels);
  const auto named = fields.optional_object("id2label");
  const std::size_t count = named ? named->json().size() : stated.value_or(2);
  if (count == 0 || count > kMostLabels) {
    fields.refuse("id2label", "an object with 1 to " + std::to_string(kMostLabels) + " labels");
  }
  std::vector<std::string> labels;
  if (!named) {
    for (std::size_t i = 0; i < count; ++i) {
      labels.push_back("LABEL_" + std::to_string(i));
    }
    return labels;
  }
  labels.resize(count);
  for (const auto& [key, label] : named->json().items()) {
    const auto id = label_id(key, count);
    if (!id || !(label.is_string() || label.is_number_integer())) {
      throw Error(ErrorCode::bad_model, named->where() + ": the entry " + in_quotes(key) +
                                            " is not one of the keys \"0\" to \"" +
                                            std::to_string(count - 1) + "\" with a name");
    }
    labels[*id] = label.is_string() ? label.get<std::string>() : label.dump();
  }
  return labels;
}

}  // namespace

Config parse_config_json(std::string_view json, std::string_view name) {
  const nlohmann::json tree = parse_strict_json(json, name);
  return read_config(JsonFields(tree, std::string(name)));
}

Config read_config(const JsonFields& fields) {
  check_architecture(fields);
  Config config;
  config.num_hidden_layers = fields.integer("num_hidden_layers", 1, kMostLayers);
  config.hidden_size = fields.integer("hidden_size", 1, kMostHidden);
  config.num_attention_heads = fields.integer("num_attention_heads", 1, kMostHidden);
  config.intermediate_size = fields.integer("intermediate_size", 1, kMostIntermediate);
  config.vocab_size = fields.integer("vocab_size", 1, kMostVocabulary);
  config.max_position_embeddings = fields.integer("max_position_embeddings", 3, kMostPositions);
  config.type_vocab_size = fields.integer("type_vocab_size", 1, kMostTokenTypes);
  if (config.hidden_size % config.num_attention_heads != 0) {
    fields.refuse("num_attention_heads", "a divisor of hidden_size " + std::to_string(config.hidden_size));
  }
  config.hidden_act = read_hidden_act(fields);
  config.layer_norm_eps = static_cast<float>(fields.optional_number("layer_norm_eps").value_or(1e-12));
  if (!(config.layer_norm_eps > 0 && config.layer_norm_eps < 1)) {
    fields.refuse("layer_norm_eps", "a number above 0 and below 1");
  }
  config.score_activation = read_score_activation(fields);
  config.labels = read_labels(fields);
  config.num_labels = config.labels.size();
  return config;
}

std::string write_config_json(const Config& config) {
  nlohmann::ordered_json json;
  json["architectures"] = {kArchitecture};
  json["model_type"] = "bert";
  json["num_hidden_layers"] = config.num_hidden_layers;
  json["hidden_size"] = config.hidden_size;
  json["num_attention_heads"] = config.num_attention_heads;
  json["intermediate_size"] = config.intermediate_size;
  json["vocab_size"] = config.vocab_size;
  json["max_position_embeddings"] = config.max_position_embeddings;
  json["type_vocab_size"] = config.type_vocab_size;
  json["position_embedding_type"] = "absolute";
  json["hidden_act"] = config.hidden_act == HiddenActivation::gelu_erf    ? "gelu"
                       : config.hidden_act == HiddenActivation::gelu_tanh ? "gelu_new"
                                                                          : "relu";
  // The shortest decimal that is this float, so that 1e-12f stands as 1e-12 and not as its double neighbour.
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), config.layer_norm_eps).ptr;
  json["layer_norm_eps"] = nlohmann::ordered_json::parse(digits.data(), end);
  json["num_labels"] = config.num_labels;
  nlohmann::json names = nlohmann::json::object();
  nlohmann::json ids = nlohmann::json::object();
  for (std::size_t i = 0; i < config.labels.size(); ++i) {
    names[std::to_string(i)] = config.labels[i];
    ids[config.labels[i]] = i;
  }
  json["id2label"] = std::move(names);
  json["label2id"] = std::move(ids);
  json["sentence_transformers"]["activation_fn"] =
      config.score_activation == ScoreActivation::sigmoid ? kSigmoid : kIdentity;
  return json.dump(2) + "\n";
}

}  // namespace crossbill::loader
