// unpack_model: a model back into a Hugging Face folder.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
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
  explicit TensorList(std::stop_token stop) : stop_(std::move(stop)) {}

  void add(const std::string& name, const WeightMatrix& matrix) {
    tensors_.push_back({name,
                        {matrix.rows, matrix.cols},
                        matrix.rows,
                        matrix.cols,
                        [&matrix, stop = stop_](std::size_t row, float* out) {
                          if (stop.stop_requested())
                            throw Error(ErrorCode::cancelled, "unpacking was cancelled");
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
  std::stop_token stop_;
  std::vector<TensorToWrite> tensors_;
};

TensorList list_tensors(const Model& model, std::stop_token stop) {
  TensorList list(std::move(stop));
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

/// A new or empty folder. Unless keep() is called it is emptied again in the end, and removed if it was new.
class FolderToFill {
 public:
  explicit FolderToFill(const std::filesystem::path& path) : path_(path) {
    std::error_code error;
    is_new_ = std::filesystem::create_directories(path, error);
    const bool is_folder = !error && std::filesystem::is_directory(path, error);
    if (error || !is_folder) {
      throw Error(ErrorCode::file_error, "folder " + in_quotes(path.string()) + " can't be made: " +
                                             (error ? error.message() : "there is a file of that name"));
    }
    if (!std::filesystem::is_empty(path, error) || error) {
      throw Error(ErrorCode::file_error,
                  "folder " + in_quotes(path.string()) + " is not empty, expected a new one");
    }
  }

  ~FolderToFill() {
    if (keep_) return;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(path_, ignored))
      std::filesystem::remove(entry.path(), ignored);
    if (is_new_) std::filesystem::remove(path_, ignored);
  }

  FolderToFill(const FolderToFill&) = delete;
  FolderToFill& operator=(const FolderToFill&) = delete;
  void keep() { keep_ = true; }

 private:
  std::filesystem::path path_;
  bool is_new_ = false;
  bool keep_ = false;
};

}  // namespace

void unpack_model(const Model& model, const std::filesystem::path& folder, std::stop_token stop) {
  FolderToFill filled(folder);
  ReplacingFile config(folder / "config.json");
  config.append(write_config_json(model.config));
  config.commit();
  write_tokenizer_files(folder, model.tokenizer_settings, model.vocabulary);
  // Last, so that a folder that has weights is whole.
  write_safetensors(folder / "model.safetensors", list_tensors(model, std::move(stop)).tensors());
  filled.keep();
}

}  // namespace crossbill::loader
