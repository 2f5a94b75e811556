// Opens a Hugging Face folder: config.json, safetensors weights, tokenizer files.
#pragma once

#include <filesystem>
#include <memory>

#include "loader/model.hpp"

namespace crossbill::loader {

/// Matrices stay in the file as they are; biases and LayerNorm parameters are widened to f32. Errors as
/// open_model.
std::shared_ptr<const Model> open_huggingface_folder(const std::filesystem::path& folder, LoadMode mode);

}  // namespace crossbill::loader
