#include "engine/fp32_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "engine/aligned_floats.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/panels.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

namespace {

using kernels::padded;

AlignedFloats zeros(std::size_t count) {
  AlignedFloats array(count);
  std::fill_n(array.data(), count, 0.0f);
  return array;
}

AlignedFloats copied(std::span<const float> values) {
  AlignedFloats array(values.size());
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

Fp32LayerNorm layer_norm(const loader::LayerNormWeights& weights) {
  return {copied(weights.gamma), copied(weights.beta)};
}

/// A dense layer and what its weights and bias are multiplied by.
struct Scaled {
  const loader::Linear& linear;
  float factor;
};

/// Dense layers with the same inputs become one; each starts at a multiple of 16 output columns.
Fp32Linear side_by_side(std::initializer_list<Scaled> parts) {
  Fp32Linear joined;
  joined.in = parts.begin()->linear.weight.cols;
  for (const Scaled& part : parts) joined.out += padded(part.linear.weight.rows);
  joined.panels = AlignedFloats(kernels::f32_panel_size(joined.out, joined.in));
  joined.bias = zeros(joined.out);

  std::vector<float> row(joined.in);
  float* panels = joined.panels.data();
  float* bias = joined.bias.data();
  for (const Scaled& part : parts) {
    const std::size_t channels = part.linear.weight.rows;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      part.linear.weight.widen_row(channel, row.data());
      for (float& value : row) value *= part.factor;
      kernels::put_f32_panel_row(panels, channels, joined.in, channel, row.data());
      bias[channel] = part.linear.bias[channel] * part.factor;
    }
    panels += kernels::f32_panel_size(channels, joined.in);
    bias += padded(channels);
  }
  return joined;
}

Fp32Linear linear(const loader::Linear& weights) {
  return side_by_side({{weights, 1.0f}});
}

Fp32Layer layer(const loader::LayerWeights& weights, const loader::Config& config) {
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(config.head_dim())));
  return {side_by_side({{weights.query, scale}, {weights.key, 1.0f}, {weights.value, 1.0f}}),
          linear(weights.attention_output),
          layer_norm(weights.attention_norm),
          linear(weights.intermediate),
          linear(weights.output),
          layer_norm(weights.output_norm)};
}

AlignedFloats places(const loader::WeightMatrix& positions, const loader::WeightMatrix& types) {
  const std::size_t stride = padded(positions.cols);
  AlignedFloats table = zeros(types.rows * positions.rows * stride);
  std::vector<float> type_row(types.cols);
  float* row = table.data();
  for (std::size_t type = 0; type < types.rows; ++type) {
    types.widen_row(type, type_row.data());
    for (std::size_t position = 0; position < positions.rows; ++position, row += stride) {
      positions.widen_row(position, row);
      for (std::size_t i = 0; i < positions.cols; ++i) row[i] += type_row[i];
    }
  }
  return table;
}

}  // namespace

Fp32Weights::Fp32Weights(const loader::Model& model)
    : places(engine::places(model.position_embeddings, model.token_type_embeddings)),
      positions(model.position_embeddings.rows),
      embedding_norm(layer_norm(model.embedding_norm)),
      pooler(linear(model.pooler)),
      classifier(linear(model.classifier)) {
  for (const loader::LayerWeights& weights : model.layers) layers.push_back(layer(weights, model.config));
}

}  // namespace crossbill::engine
