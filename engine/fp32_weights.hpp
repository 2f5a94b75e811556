// The weights of a model as the fp32 pass multiplies by them: widened once, in panels, on cache lines.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/aligned_floats.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

/// One dense layer, or several that read the same input side by side.
struct Fp32Linear {
  AlignedFloats panels;  ///< [out/16][in][16], kernels/panels.hpp
  AlignedFloats bias;    ///< [out], zero where padded
  std::size_t out = 0;   ///< output columns, padded to 16
  std::size_t in = 0;
};

struct Fp32LayerNorm {
  AlignedFloats gamma, beta;  ///< [hidden]
};

struct Fp32Layer {
  /// Query, key and value in one product: columns [0, S) are the query's, [S, 2S) the key's and [2S, 3S) the
  /// value's, with S = padded(hidden). The query's carry the factor 1/sqrt(head_dim) of the attention.
  Fp32Linear query_key_value;
  Fp32Linear attention_output;
  Fp32LayerNorm attention_norm;
  Fp32Linear intermediate;
  Fp32Linear output;
  Fp32LayerNorm output_norm;
};

/// Word embeddings are not in here: they stay in the file's form and are widened row by row when looked up.
struct Fp32Weights {
  explicit Fp32Weights(const loader::Model& model);

  /// Position + token-type embedding, added up once: row (type · positions + position), each padded(hidden)
  /// floats, zero where padded.
  AlignedFloats places;
  std::size_t positions = 0;
  Fp32LayerNorm embedding_norm;
  std::vector<Fp32Layer> layers;
  Fp32Linear pooler;
  Fp32Linear classifier;
};

}  // namespace crossbill::engine
