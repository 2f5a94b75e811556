// The weight files of a Hugging Face folder: one model.safetensors, or shards with an index.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "loader/model.hpp"
#include "loader/safetensors.hpp"

namespace crossbill::loader {

/// A tensor and the file it lies in (for messages).
struct FoundTensor {
  const SafetensorsEntry* entry = nullptr;
  const SafetensorsFile* file = nullptr;
};

class HuggingFaceWeights {
 public:
  /// Opens model.safetensors, else every shard that model.safetensors.index.json names. Error
  /// unsupported_model with the converting command if the folder has only pytorch_model.bin or an .onnx file;
  /// file_error if it has no weights at all; bad_model if the index names a file outside the folder or a
  /// tensor that its shard lacks.
  HuggingFaceWeights(const std::filesystem::path& folder, LoadMode mode);

  HuggingFaceWeights(HuggingFaceWeights&&) = default;  // a copy's tensors would point into the original
  HuggingFaceWeights& operator=(HuggingFaceWeights&&) = default;

  /// Entry null if there is none of that name.
  FoundTensor find(std::string_view name) const;
  /// All tensors, by name.
  const std::vector<FoundTensor>& tensors() const { return tensors_; }
  const std::vector<SafetensorsFile>& files() const { return files_; }
  /// The file or index that lists the tensors.
  const std::string& name() const { return name_; }

 private:
  void open_shards(const std::filesystem::path& folder, const std::filesystem::path& index, LoadMode mode);

  std::string name_;
  std::vector<SafetensorsFile> files_;
  std::vector<FoundTensor> tensors_;
};

/// Error unsupported_model if `file` is of a kind that the conversion script turns into safetensors
/// (pytorch_model.bin, *.onnx); the sentence has the command.
void refuse_convertible_file(const std::filesystem::path& file);

}  // namespace crossbill::loader
