// Models that are put together in memory, so that forward passes can be tested on any shape and on encoders
// that no loader would accept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "crossbill/encoding.hpp"
#include "loader/config.hpp"
#include "loader/model.hpp"

namespace crossbill::engine::test {

struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};
/// By Hugging Face's names, "bert." in front.
using Tensors = std::map<std::string, Tensor>;

/// The tensors of a safetensors file, f32 only.
Tensors read_f32_safetensors(const std::filesystem::path& file);

/// Embedding tables may be missing; anything else throws std::out_of_range.
std::shared_ptr<const loader::Model> model_from_tensors(const loader::Config& config, Tensors tensors);

/// Normally distributed weights of a size that keeps hidden states and logits near 1.
std::shared_ptr<const loader::Model> random_model(const loader::Config& config, unsigned seed);

/// A configuration for random_model: two token types, 100 words, 80 positions.
loader::Config small_config(std::size_t layers, std::size_t heads, std::size_t head_dim,
                            std::size_t intermediate, std::size_t labels,
                            loader::HiddenActivation activation);

/// `tokens` random ids, a random first part of type 0 and the rest of type 1.
EncodedPair random_pair(const loader::Config& config, std::size_t tokens, unsigned seed);

}  // namespace crossbill::engine::test
