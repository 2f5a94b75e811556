// What config.json (or the metadata of a .cbm file) says of a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossbill::loader {

class JsonFields;

/// The function between the two feed-forward products; config.json's `hidden_act`.
enum class HiddenActivation {
  gelu_erf,   ///< "gelu": x·Φ(x)
  gelu_tanh,  ///< "gelu_new", "gelu_pytorch_tanh"
  relu,       ///< "relu"
};

/// What turns a logit into a score when the caller doesn't say.
enum class ScoreActivation { identity, sigmoid };

/// Sizes and settings of a BertForSequenceClassification. Names are config.json's.
struct Config {
  std::size_t num_hidden_layers = 0;
  std::size_t hidden_size = 0;
  std::size_t num_attention_heads = 0;
  std::size_t intermediate_size = 0;
  std::size_t vocab_size = 0;
  std::size_t max_position_embeddings = 0;
  std::size_t type_vocab_size = 0;
  std::size_t num_labels = 1;
  HiddenActivation hidden_act = HiddenActivation::gelu_erf;
  float layer_norm_eps = 1e-12f;
  ScoreActivation score_activation = ScoreActivation::identity;
  std::vector<std::string> labels;  ///< id2label in order; "LABEL_0", … where the file names none

  std::size_t head_dim() const { return hidden_size / num_attention_heads; }
};

/// Error bad_model (file, field, what was found, what would be right) or unsupported_model (architecture,
/// position_embedding_type, hidden_act, activation by name). `name` stands in messages, for example a path.
Config parse_config_json(std::string_view json, std::string_view name);
/// The same from an object that has been parsed already.
Config read_config(const JsonFields& fields);

/// The same as a config.json that PyTorch opens and parse_config_json reads back to an equal Config.
std::string write_config_json(const Config& config);

}  // namespace crossbill::loader
