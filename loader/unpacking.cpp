// unpack_model: a model back into a Hugging Face folder.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/config.hpp"
#include "loader/message.hpp"
#include "loader/model.hpp"
#include "loader/packing.hpp"
#include "loader/replacing_file.hpp"
#include "loader/safetensors_writer.hpp"
#include "loader/tokenizer_files_writer.hpp"

namespace crossbill::loader {
namespace {

/// Lists a model's tensors under the names of BertForSequenceClassification.
class TensorList {
 public:
  void add(const std::string& name, const WeightMatrix& matrix) {
    tensors_.push_back(
        {name, {matrix.rows, matrix.cols}, matrix.rows, matrix.cols, [&matrix](std::size_t row, float* out) {
           matrix.widen_row(row, out);
         }});
  }

  void add(const std::string& name, std::span<const float> values) {
    tensors_.push_back({name, {values.size()}, 1, values.size(), [values](std::size_t, float* out) {
                          std::ranges::copy(values, out);
                        }});
  }

  void add(const std::string& name, const Linear& linear) {
    add(name + ".weight", linear.weight);
    add(name + ".bias", linear.bias);
  }

  void add(const std::string& name, const LayerNormWeights& norm) {
    add(name + ".weight", norm.gamma);
    add(name + ".bias", norm.beta);
  }

  const std::vector<TensorToWrite>& tensors() const { return tensors_; }

 private:
  std::vector<TensorToWrite> tensors_;
};

TensorList list_tensors(const Model& model) {
  TensorList list;
  list.add("bert.embeddings.word_embeddings.weight", model.word_embeddings);
  list.add("bert.embeddings.position_embeddings.weight", model.position_embeddings);
  list.add("bert.embeddings.token_type_embeddings.weight", model.token_type_embeddings);
  list.add("bert.embeddings.LayerNorm", model.embedding_norm);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerWeights& layer = model.layers[i];
    const std::string name = "bert.encoder.layer." + std::to_string(i);
    list.add(name + ".attention.self.query", layer.query);
    list.add(name + ".attention.self.key", layer.key);
    list.add(name + ".attention.self.value", layer.value);
    list.add(name + ".attention.output.dense", layer.attention_output);
    list.add(name + ".attention.output.LayerNorm", layer.attention_norm);
    list.add(name + ".intermediate.dense", layer.intermediate);
    list.add(name + ".output.dense", layer.output);
    list.add(name + ".output.LayerNorm", layer.output_norm);
  }
  list.add("bert.pooler.dense", model.pooler);
  list.add("classifier", model.classifier);
  return list;
}

void make_empty_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const bool is_folder = !error && std::filesystem::is_directory(folder, error);
  if (error || !is_folder) {
    throw Error(ErrorCode::file_error, "folder " + in_quotes(folder.string()) + " can't be made: " +
                                           (error ? error.message() : "there is a file of that name"));
  }
  if (!std::filesystem::is_empty(folder, error) || error) {
    throw Error(ErrorCode::file_error,
                "folder " + in_quotes(folder.string()) + " is not empty, expected a new one");
  }
}

}  // namespace

void unpack_model(const Model& model, const std::filesystem::path& folder) {
  make_empty_folder(folder);
  ReplacingFile config(folder / "config.json");
  config.append(write_config_json(model.config));
  config.commit();
  write_tokenizer_files(folder, model.tokenizer_settings, model.vocabulary);
  // Last, so that a folder that has weights is whole.
  write_safetensors(folder / "model.safetensors", list_tensors(model).tensors());
}

}  // namespace crossbill::loader
