// Writing models: Hugging Face folder → .cbm → Hugging Face folder.
#pragma once

#include <filesystem>
#include <stop_token>

#include "loader/model.hpp"

namespace crossbill::loader {

/// Small matrices (position and token type embeddings, pooler, classifier) are f16 where that is exact, else
/// f32; biases and LayerNorm parameters are f32 always.
enum class PackedWeights {
  int8,  ///< products of the layers s8 with the pair bound, word embeddings s8
  f16,   ///< products of the layers and word embeddings f16 (exact if the source is f16)
};

struct PackReport {
  std::size_t bytes = 0;        ///< size of the written file
  double weight_snr_db = 0;     ///< signal to noise of all product weights against the source; +inf if exact
  std::size_t inexact_f16 = 0;  ///< values that f16 rounded (f16 only)
};

/// Writes `model` as a .cbm file: beside `out`, then renamed over it, so a reader never sees half a file.
/// Weights that are int8 already stay as they are when packed as int8.
/// Error file_error, bad_model if a weight is not finite (or overflows f16), cancelled if `stop` asks for it;
/// then an old file at `out` is as it was.
PackReport pack_model(const Model& model, const std::filesystem::path& out, PackedWeights weights,
                      std::stop_token stop = {});

/// Writes a Hugging Face folder (config.json, model.safetensors f32, tokenizer.json, vocab.txt,
/// tokenizer_config.json) that PyTorch opens and that gives the same logits. `folder` must not exist or be
/// empty, and is so again after an Error: file_error, or cancelled if `stop` asks for it.
void unpack_model(const Model& model, const std::filesystem::path& folder, std::stop_token stop = {});

}  // namespace crossbill::loader
