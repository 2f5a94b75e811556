// A model as it lies in memory: what the forward passes read, whichever kind of file it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loader/config.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::loader {

enum class DType : std::uint8_t { f32, f16, bf16, s8 };

/// A weight matrix in the form its file has; rows are output channels (or vocabulary entries), columns are
/// inputs. s8: value = scales[row]·q. Borrowed memory: `Model::storage` keeps it alive.
struct WeightMatrix {
  enum class Layout : std::uint8_t {
    rows,    ///< row-major [rows][cols]
    panels,  ///< s8 only, kernels/panels.hpp
  };
  DType dtype = DType::f32;
  Layout layout = Layout::rows;
  std::size_t rows = 0;
  std::size_t cols = 0;
  const std::byte* data = nullptr;  ///< need not be aligned for `rows`; 64-byte aligned for `panels`
  const float* scales = nullptr;    ///< [rows], s8 only
  const std::int32_t* column_sums = nullptr;  ///< [padded(rows)] Σ_k q[row][k], panels only

  /// Writes row `row` as f32 to out[0 … cols). Exact for f32, f16, bf16; one rounding for s8.
  void widen_row(std::size_t row, float* out) const;
};

struct Linear {
  WeightMatrix weight;          ///< [out][in]
  std::span<const float> bias;  ///< [out]
};

struct LayerNormWeights {
  std::span<const float> gamma;
  std::span<const float> beta;
};

struct LayerWeights {
  Linear query, key, value;         ///< [hidden][hidden] each; the factor 1/sqrt(head_dim) is NOT in them
  Linear attention_output;          ///< [hidden][hidden]
  LayerNormWeights attention_norm;  ///< [hidden]
  Linear intermediate;              ///< [intermediate][hidden]
  Linear output;                    ///< [hidden][intermediate]
  LayerNormWeights output_norm;     ///< [hidden]
};

/// Read-only once opened; share it as shared_ptr<const Model>.
struct Model {
  Config config;
  tokenizer::Settings tokenizer_settings;
  tokenizer::Vocabulary vocabulary;

  WeightMatrix word_embeddings;        ///< [vocab_size][hidden]
  WeightMatrix position_embeddings;    ///< [max_position_embeddings][hidden]
  WeightMatrix token_type_embeddings;  ///< [type_vocab_size][hidden]
  LayerNormWeights embedding_norm;
  std::vector<LayerWeights> layers;
  Linear pooler;      ///< [hidden][hidden], tanh follows
  Linear classifier;  ///< [num_labels][hidden]

  std::string name;                         ///< path it was opened from, or "memory"
  std::string format;                       ///< "Hugging Face folder", "cbm version 0"
  DType weight_dtype = DType::f32;          ///< of the layers' products
  std::string source_sha256;                ///< of the weights this model was packed from; empty if not known
  std::vector<std::string> unused_tensors;  ///< names that were found and not needed
  std::size_t bytes = 0;                    ///< of the files that hold the weights
  std::vector<std::span<const std::byte>> weight_files;  ///< those files whole, in the order of their names
  std::shared_ptr<const void> storage;                   ///< keeps all borrowed memory alive
};

enum class LoadMode {
  map,   ///< weights stay in the mapped file; it must not be shortened while the model is open
  copy,  ///< the file is read into memory first
};

/// A folder (config.json, model.safetensors, tokenizer files) or a .cbm file, told apart by what is found
/// there. Error file_error, bad_model or unsupported_model; a folder with only pytorch_model.bin or an .onnx
/// file is refused with the command that converts it.
std::shared_ptr<const Model> open_model(const std::filesystem::path& path, LoadMode mode = LoadMode::map);
/// A .cbm file in memory; the bytes are copied once unless they are 64-byte aligned. `owner` may be null if
/// the caller keeps them alive.
std::shared_ptr<const Model> open_model(std::span<const std::byte> cbm, std::shared_ptr<const void> owner);

}  // namespace crossbill::loader
