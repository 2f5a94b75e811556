#include "loader/huggingface_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/config.hpp"
#include "loader/file_bytes.hpp"
#include "loader/huggingface_weights.hpp"
#include "loader/message.hpp"
#include "loader/model.hpp"
#include "loader/model_checks.hpp"
#include "tokenizer/huggingface_files.hpp"

namespace crossbill::loader {
namespace {

constexpr std::size_t kLongestConfig = 1u << 20;

/// What a folder's Model borrows from.
struct FolderStorage {
  HuggingFaceWeights weights;
  std::deque<std::vector<float>> widened;  // a deque never moves its elements
};

/// Takes tensors by the names that BertForSequenceClassification gives them, in any of the spellings that
/// checkpoints have, checks shape and type, and remembers which were taken.
class BertTensors {
 public:
  explicit BertTensors(FolderStorage& storage) : storage_(storage) {
    const auto& tensors = storage.weights.tensors();
    prefix_ = std::any_of(tensors.begin(), tensors.end(),
                          [](const FoundTensor& t) { return t.entry->name.starts_with("bert."); })
                  ? "bert."
                  : "";
  }

  bool has_classifier() const {
    return storage_.weights.find("classifier.weight").entry != nullptr ||
           storage_.weights.find("classifier.bias").entry != nullptr;
  }

  Linear linear(const std::string& name, std::size_t out, std::size_t in) {
    return {matrix(name + ".weight", out, in), vector({name + ".bias"}, out)};
  }

  WeightMatrix matrix(const std::string& name, std::size_t rows, std::size_t cols) {
    const std::uint64_t shape[] = {rows, cols};
    const SafetensorsEntry& entry = *take({name}, shape).entry;
    WeightMatrix matrix;
    matrix.dtype = *entry.weight_dtype();
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.data = entry.data.data();
    return matrix;
  }

  LayerNormWeights layer_norm(const std::string& name, std::size_t size) {
    return {vector({name + ".weight", name + ".gamma"}, size),
            vector({name + ".bias", name + ".beta"}, size)};
  }

  /// Names of the tensors that weren't taken. position_ids is a buffer of 0, 1, 2, …, not a weight.
  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& tensor : storage_.weights.tensors()) {
      const std::string& name = tensor.entry->name;
      if (!taken_.contains(name) && !name.ends_with("embeddings.position_ids")) {
        names.push_back(name);
      }
    }
    return names;
  }

 private:
  /// The tensor under the first of these names, with or without the prefix.
  FoundTensor take(const std::vector<std::string>& names, std::span<const std::uint64_t> shape) {
    FoundTensor found;
    for (const auto& name : names) {
      const bool head = name.starts_with("classifier.");
      for (const auto& spelling : {head ? name : prefix_ + name, name}) {
        if (found.entry == nullptr) {
          found = storage_.weights.find(spelling);
        }
      }
    }
    if (found.entry == nullptr) {
      throw Error(ErrorCode::bad_model,
                  storage_.weights.name() + ": tensor " +
                      in_quotes(names[0].starts_with("classifier.") ? names[0] : prefix_ + names[0]) +
                      " is missing, expected one of shape " + shape_text(shape));
    }
    const std::string where = found.file->name() + ": tensor " + in_quotes(found.entry->name);
    if (!std::equal(shape.begin(), shape.end(), found.entry->shape.begin(), found.entry->shape.end())) {
      throw Error(ErrorCode::bad_model, where + " has the shape " + shape_text(found.entry->shape) +
                                            ", expected " + shape_text(shape) + " as config.json says");
    }
    if (!found.entry->weight_dtype()) {
      throw Error(ErrorCode::bad_model,
                  where + " has the dtype " + found.entry->dtype + ", expected F32, F16 or BF16");
    }
    taken_.insert(found.entry->name);
    return found;
  }

  std::span<const float> vector(const std::vector<std::string>& names, std::size_t size) {
    const std::uint64_t shape[] = {size};
    const FoundTensor found = take(names, shape);
    WeightMatrix row;
    row.dtype = *found.entry->weight_dtype();
    row.rows = 1;
    row.cols = size;
    row.data = found.entry->data.data();
    auto& values = storage_.widened.emplace_back(size);
    row.widen_row(0, values.data());
    check_finite(values, found.file->name() + ": tensor " + in_quotes(found.entry->name));
    return values;
  }

  FolderStorage& storage_;
  std::string prefix_;
  std::set<std::string, std::less<>> taken_;
};

LayerWeights take_layer(BertTensors& tensors, const std::string& name, const Config& config) {
  const std::size_t hidden = config.hidden_size;
  LayerWeights layer;
  layer.query = tensors.linear(name + ".attention.self.query", hidden, hidden);
  layer.key = tensors.linear(name + ".attention.self.key", hidden, hidden);
  layer.value = tensors.linear(name + ".attention.self.value", hidden, hidden);
  layer.attention_output = tensors.linear(name + ".attention.output.dense", hidden, hidden);
  layer.attention_norm = tensors.layer_norm(name + ".attention.output.LayerNorm", hidden);
  layer.intermediate = tensors.linear(name + ".intermediate.dense", config.intermediate_size, hidden);
  layer.output = tensors.linear(name + ".output.dense", hidden, config.intermediate_size);
  layer.output_norm = tensors.layer_norm(name + ".output.LayerNorm", hidden);
  return layer;
}

void take_weights(Model& model, BertTensors& tensors, const std::string& file) {
  const Config& config = model.config;
  const std::size_t hidden = config.hidden_size;
  if (!tensors.has_classifier()) {
    throw Error(ErrorCode::unsupported_model,
                file +
                    ": no classification head, the tensors \"classifier.weight\" and \"classifier.bias\" are "
                    "missing; "
                    "a bare encoder can't score pairs");
  }
  model.word_embeddings = tensors.matrix("embeddings.word_embeddings.weight", config.vocab_size, hidden);
  model.position_embeddings =
      tensors.matrix("embeddings.position_embeddings.weight", config.max_position_embeddings, hidden);
  model.token_type_embeddings =
      tensors.matrix("embeddings.token_type_embeddings.weight", config.type_vocab_size, hidden);
  model.embedding_norm = tensors.layer_norm("embeddings.LayerNorm", hidden);
  for (std::size_t i = 0; i < config.num_hidden_layers; ++i) {
    model.layers.push_back(take_layer(tensors, "encoder.layer." + std::to_string(i), config));
  }
  model.pooler = tensors.linear("pooler.dense", hidden, hidden);
  model.classifier = tensors.linear("classifier", config.num_labels, hidden);
  model.weight_dtype = model.layers.front().query.weight.dtype;
  model.unused_tensors = tensors.unused();
}

}  // namespace

std::shared_ptr<const Model> open_huggingface_folder(const std::filesystem::path& folder, LoadMode mode) {
  auto storage = std::make_shared<FolderStorage>(FolderStorage{HuggingFaceWeights(folder, mode), {}});
  auto model = std::make_shared<Model>();
  model->name = folder.string();
  model->format = "Hugging Face folder";
  const auto config = folder / "config.json";
  model->config = parse_config_json(read_text_file(config, kLongestConfig), config.string());
  BertTensors tensors(*storage);
  take_weights(*model, tensors, storage->weights.name());
  auto files = tokenizer::read_tokenizer_files(folder);
  model->tokenizer_settings = std::move(files.settings);
  model->vocabulary = std::move(files.vocabulary);
  check_tokenizer_fits(*model);
  for (const auto& file : storage->weights.files()) {
    model->bytes += file.file().bytes.size();
    model->weight_files.push_back(file.file().bytes);
  }
  model->storage = std::move(storage);
  return model;
}

}  // namespace crossbill::loader
