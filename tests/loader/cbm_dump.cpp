// Prints what the C++ reader makes of a .cbm file, in the form of read_cbm.py.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "loader/model.hpp"
#include "loader/sha256.hpp"

namespace crossbill::loader {
namespace {

void print(const std::string& line) {
  std::puts(line.c_str());
}

void print_digest(const std::string& name, std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  print(name + " " + hash.finish());
}

void print_matrix(const std::string& name, const WeightMatrix& matrix) {
  std::vector<float> values(matrix.rows * matrix.cols);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    matrix.widen_row(row, values.data() + row * matrix.cols);
  }
  print_digest(name, std::as_bytes(std::span(values)));
}

void print_linear(const std::string& name, const Linear& linear) {
  print_matrix(name + ".weight", linear.weight);
  print_digest(name + ".bias", std::as_bytes(linear.bias));
}

void print_norm(const std::string& name, const LayerNormWeights& norm) {
  print_digest(name + ".gamma", std::as_bytes(norm.gamma));
  print_digest(name + ".beta", std::as_bytes(norm.beta));
}

void print_vocabulary(const tokenizer::Vocabulary& vocabulary) {
  std::string tokens;
  for (std::size_t id = 0; id < vocabulary.size(); ++id) {
    tokens += std::string(vocabulary.token(static_cast<std::int32_t>(id))) + "\n";
  }
  print_digest("vocabulary " + std::to_string(vocabulary.size()), std::as_bytes(std::span(tokens)));
}

void print_model(const Model& model) {
  std::string labels;
  for (const auto& label : model.config.labels) {
    labels += (labels.empty() ? "" : ",") + label;
  }
  print(std::string("weights ") + (model.weight_dtype == DType::s8 ? "int8" : "f16"));
  print("source " + model.source_sha256);
  print("heads " + std::to_string(model.config.num_attention_heads));
  print("labels " + labels);
  print("cls " + std::to_string(model.tokenizer_settings.cls_id) + " sep " +
        std::to_string(model.tokenizer_settings.sep_id));
  print_vocabulary(model.vocabulary);
  print_matrix("embeddings.word", model.word_embeddings);
  print_matrix("embeddings.position", model.position_embeddings);
  print_matrix("embeddings.token_type", model.token_type_embeddings);
  print_norm("embeddings.norm", model.embedding_norm);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerWeights& layer = model.layers[i];
    const std::string name = "layer." + std::to_string(i) + ".";
    print_linear(name + "query", layer.query);
    print_linear(name + "key", layer.key);
    print_linear(name + "value", layer.value);
    print_linear(name + "attention_output", layer.attention_output);
    print_norm(name + "attention_norm", layer.attention_norm);
    print_linear(name + "intermediate", layer.intermediate);
    print_linear(name + "output", layer.output);
    print_norm(name + "output_norm", layer.output_norm);
  }
  print_linear("pooler", model.pooler);
  print_linear("classifier", model.classifier);
}

}  // namespace
}  // namespace crossbill::loader

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      std::fputs("usage: cbm_dump FILE\n", stderr);
      return 2;
    }
    crossbill::loader::print_model(*crossbill::loader::open_model(argv[1]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cbm_dump: %s\n", error.what());
    return 1;
  }
}
