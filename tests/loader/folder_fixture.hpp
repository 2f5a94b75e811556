// What Hugging Face folders hold, for the loader's tests: every tensor of a Model by its Hugging Face name,
// and a copy of the tiny one-label model that a test changes before it opens it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/model.hpp"
#include "tests/loader/expect_error.hpp"
#include "tests/loader/temporary_folder.hpp"
#include "tests/loader/tensor_files.hpp"

namespace crossbill::loader {

inline const std::filesystem::path kOneLabel =
    std::filesystem::path(CROSSBILL_TEST_DATA) / "tiny" / "one-label";
inline const std::filesystem::path kThreeLabels =
    std::filesystem::path(CROSSBILL_TEST_DATA) / "tiny" / "three-labels";

/// A copy of the one-label model that a test changes before it opens it.
class Folder : public ::testing::Test {
 protected:
  Folder()
      : tensors(read_tensors(kOneLabel / "model.safetensors")),
        config(nlohmann::json::parse(read_file(kOneLabel / "config.json"))) {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
      std::filesystem::copy_file(kOneLabel / name, folder / name);
    }
  }

  void save() {
    write_tensors(folder / "model.safetensors", tensors);
    write_file(folder / "config.json", config.dump());
  }

  std::shared_ptr<const Model> open() {
    save();
    return open_model(folder.path());
  }

  void expect_refused(ErrorCode code, std::initializer_list<std::string> words) {
    save();
    expect_error([&] { open_model(folder.path()); }, code, words);
  }

  /// Renames tensors; a name for which `rename` gives "" is left out.
  void rename_tensors(const std::function<std::string(const std::string&)>& rename) {
    TestTensors renamed;
    for (auto& [name, tensor] : tensors) {
      if (const auto to = rename(name); !to.empty()) {
        renamed[to] = std::move(tensor);
      }
    }
    tensors = std::move(renamed);
  }

  TemporaryFolder folder;
  TestTensors tensors;
  nlohmann::json config;
};

inline std::vector<float> all_rows(const WeightMatrix& matrix) {
  std::vector<float> values(matrix.rows * matrix.cols);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    matrix.widen_row(row, values.data() + row * matrix.cols);
  }
  return values;
}

inline std::vector<float> vector_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

/// Calls visit(Hugging Face name, values) for every tensor of a model.
inline void for_each_tensor(const Model& model,
                            const std::function<void(const std::string&, const std::vector<float>&)>& visit) {
  const auto linear = [&](const std::string& name, const Linear& part) {
    visit(name + ".weight", all_rows(part.weight));
    visit(name + ".bias", vector_of(part.bias));
  };
  const auto norm = [&](const std::string& name, const LayerNormWeights& part) {
    visit(name + ".weight", vector_of(part.gamma));
    visit(name + ".bias", vector_of(part.beta));
  };
  visit("bert.embeddings.word_embeddings.weight", all_rows(model.word_embeddings));
  visit("bert.embeddings.position_embeddings.weight", all_rows(model.position_embeddings));
  visit("bert.embeddings.token_type_embeddings.weight", all_rows(model.token_type_embeddings));
  norm("bert.embeddings.LayerNorm", model.embedding_norm);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto& layer = model.layers[i];
    const std::string name = "bert.encoder.layer." + std::to_string(i) + ".";
    linear(name + "attention.self.query", layer.query);
    linear(name + "attention.self.key", layer.key);
    linear(name + "attention.self.value", layer.value);
    linear(name + "attention.output.dense", layer.attention_output);
    norm(name + "attention.output.LayerNorm", layer.attention_norm);
    linear(name + "intermediate.dense", layer.intermediate);
    linear(name + "output.dense", layer.output);
    norm(name + "output.LayerNorm", layer.output_norm);
  }
  linear("bert.pooler.dense", model.pooler);
  linear("classifier", model.classifier);
}

inline void expect_same_weights(const Model& model, const TestTensors& f32) {
  std::size_t count = 0;
  for_each_tensor(model, [&](const std::string& name, const std::vector<float>& values) {
    EXPECT_EQ(values, floats_of(f32.at(name))) << name;
    ++count;
  });
  EXPECT_EQ(count, 41u);  // 5 + 2·16 + 4
}

}  // namespace crossbill::loader
