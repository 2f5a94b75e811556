// How to read it: Run::logits() is the pass as a list of steps; the steps follow in that order. What each
// step means is told in reference.cpp.
//
// Rows of different tokens meet nowhere but in the attention of their own pair, and every kernel treats a row
// by itself. That is why neither the blocks of rows below nor the other pairs of a batch can change a bit.
#include "engine/fp32_pass.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/arena.hpp"
#include "kernels/kernel_set.hpp"
#include "loader/config.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

namespace {

using kernels::padded;

/// Rows that go through a product, or through the whole feed-forward part, together: few enough for their
/// intermediate values to stay in the second-level cache, many enough to make up for reading all weights.
constexpr std::size_t kBlockRows = 64;

/// Floats in each array that a run works in. They follow from the shape of the model and of the batch.
struct ArraySizes {
  std::size_t hidden, query_key_value, context, projected, inner, logits, scratch;

  ArraySizes(const Fp32Weights& weights, const loader::Config& config, std::size_t tokens,
             std::size_t longest) {
    const std::size_t stride = padded(config.hidden_size);
    const std::size_t block = std::min(tokens, kBlockRows);
    hidden = tokens * stride;
    query_key_value = tokens * 3 * stride;
    context = tokens * stride;
    projected = block * stride;
    inner = block * padded(config.intermediate_size);
    logits = block * weights.classifier.out;
    scratch = kernels::attention_scratch_f32(longest, config.head_dim());
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (std::size_t count : {hidden, query_key_value, context, projected, inner, logits, scratch})
      sum += Arena::bytes_of(count);
    return sum;
  }
};

using Elementwise = void (*)(float*, std::size_t);

Elementwise activation(const kernels::KernelSet& kernels, loader::HiddenActivation name) {
  switch (name) {
    case loader::HiddenActivation::gelu_erf:
      return kernels.gelu_erf_f32;
    case loader::HiddenActivation::gelu_tanh:
      return kernels.gelu_tanh_f32;
    case loader::HiddenActivation::relu:
      return kernels.relu_f32;
  }
  return kernels.gelu_erf_f32;
}

/// One batch on its way through the model.
class Run {
 public:
  Run(const loader::Model& model, const Fp32Weights& weights, const kernels::KernelSet& kernels,
      const PackedBatch& batch, const ArraySizes& sizes, Arena& arena)
      : model_(model),
        weights_(weights),
        kernels_(kernels),
        batch_(batch),
        activate_(activation(kernels, model.config.hidden_act)),
        stride_(padded(model.config.hidden_size)),
        hidden_(arena.floats(sizes.hidden)),
        query_key_value_(arena.floats(sizes.query_key_value)),
        context_(arena.floats(sizes.context)),
        projected_(arena.floats(sizes.projected)),
        inner_(arena.floats(sizes.inner)),
        logits_(arena.floats(sizes.logits)),
        scratch_(arena.floats(sizes.scratch)) {}

  void logits(std::span<const float> embeddings, std::span<float> out, HiddenTrace* trace);

 private:
  void embed();
  void take(std::span<const float> embeddings);
  void encode(const Fp32Layer& layer);
  void encode_cls(const Fp32Layer& layer);
  void keep_cls_rows();
  void attend(const loader::Config& config, std::size_t pair, std::size_t query_row, std::size_t queries);
  void rewrite_rows(const Fp32Layer& layer, std::size_t rows);
  void classify(std::span<float> out, HiddenTrace* trace);

  // The steps are made of these.
  void product(const Fp32Linear& layer, std::size_t first_column, std::size_t columns, const float* x,
               std::size_t rows, float* y, std::size_t y_stride) const;
  void layer_norm(const Fp32LayerNorm& norm, const float* x, const float* residual, std::size_t rows,
                  float* y) const;
  void record(std::vector<double>& state, const float* rows, std::size_t count) const;

  const loader::Model& model_;
  const Fp32Weights& weights_;
  const kernels::KernelSet& kernels_;
  const PackedBatch& batch_;
  const Elementwise activate_;
  const std::size_t stride_;      ///< floats from one hidden state to the next
  float* const hidden_;           ///< [tokens][stride] the hidden states; [pairs][stride] in the end
  float* const query_key_value_;  ///< [tokens][3·stride]
  float* const context_;          ///< [tokens][stride] what attention has gathered
  float* const projected_;  ///< [block][stride] a step's result, before it is added to the hidden states
  float* const inner_;      ///< [block][padded intermediate]
  float* const logits_;     ///< [block][padded labels]
  float* const scratch_;    ///< of one attention call
};

/// Calls step(first, count) for every block of rows. They are spread evenly over the fewest blocks: a block
/// of two rows left over would read all weights for itself.
template <typename Step>
void for_each_block(std::size_t rows, const Step& step) {
  for (std::size_t first = 0; first < rows;) {
    const std::size_t blocks = (rows - first + kBlockRows - 1) / kBlockRows;
    const std::size_t count = (rows - first + blocks - 1) / blocks;
    step(first, count);
    first += count;
  }
}

// ---------------------------------------------------------------------------------------------------------
// The pass.

void Run::logits(std::span<const float> embeddings, std::span<float> out, HiddenTrace* trace) {
  const auto record_hidden = [&] {
    if (trace != nullptr) record(trace->states.emplace_back(), hidden_, batch_.tokens());
  };
  if (embeddings.empty())
    embed();
  else
    take(embeddings);
  record_hidden();
  for (const Fp32Layer& layer : weights_.layers) {
    // Only [CLS] is read of what the last layer makes.
    if (&layer == &weights_.layers.back() && trace == nullptr) {
      encode_cls(layer);
    } else {
      encode(layer);
      record_hidden();
    }
  }
  if (trace != nullptr) keep_cls_rows();
  classify(out, trace);
}

/// Word + (position + token type), normalised. The places of a run of tokens of one type lie in a row.
void Run::embed() {
  for (std::size_t token = 0; token < batch_.tokens(); ++token)
    model_.word_embeddings.widen_row(static_cast<std::size_t>(batch_.token_ids[token]),
                                     hidden_ + token * stride_);
  for (std::size_t pair = 0; pair < batch_.pairs(); ++pair) {
    const std::size_t begin = batch_.offsets[pair];
    const std::size_t end = batch_.offsets[pair + 1];
    for (std::size_t first = begin, last; first < end; first = last) {
      const std::uint8_t type = batch_.type_ids[first];
      for (last = first; last < end && batch_.type_ids[last] == type;) ++last;
      const float* places = weights_.places.data() + (type * weights_.positions + first - begin) * stride_;
      float* rows = hidden_ + first * stride_;
      layer_norm(weights_.embedding_norm, rows, places, last - first, rows);
    }
  }
}

void Run::take(std::span<const float> embeddings) {
  const std::size_t width = model_.config.hidden_size;
  for (std::size_t token = 0; token < batch_.tokens(); ++token)
    std::copy_n(embeddings.data() + token * width, width, hidden_ + token * stride_);
}

// ---------------------------------------------------------------------------------------------------------
// A layer.

void Run::encode(const Fp32Layer& layer) {
  for_each_block(batch_.tokens(), [&](std::size_t first, std::size_t rows) {
    product(layer.query_key_value, 0, 3 * stride_, hidden_ + first * stride_, rows,
            query_key_value_ + first * 3 * stride_, 3 * stride_);
  });
  for (std::size_t pair = 0; pair < batch_.pairs(); ++pair)
    attend(model_.config, pair, batch_.offsets[pair], batch_.length(pair));
  rewrite_rows(layer, batch_.tokens());
}

/// The same for [CLS] alone: keys and values of all tokens, but one query a pair, and from there on one row a
/// pair. Pair p's query lies in row p, which is free: no query of another token is needed.
void Run::encode_cls(const Fp32Layer& layer) {
  for_each_block(batch_.tokens(), [&](std::size_t first, std::size_t rows) {
    product(layer.query_key_value, stride_, 2 * stride_, hidden_ + first * stride_, rows,
            query_key_value_ + first * 3 * stride_ + stride_, 3 * stride_);
  });
  keep_cls_rows();
  for_each_block(batch_.pairs(), [&](std::size_t first, std::size_t rows) {
    product(layer.query_key_value, 0, stride_, hidden_ + first * stride_, rows,
            query_key_value_ + first * 3 * stride_, 3 * stride_);
  });
  for (std::size_t pair = 0; pair < batch_.pairs(); ++pair) attend(model_.config, pair, pair, 1);
  rewrite_rows(layer, batch_.pairs());
}

/// Moves the hidden state of each pair's first token to row `pair`. Rows only move forward, so none is lost.
void Run::keep_cls_rows() {
  for (std::size_t pair = 1; pair < batch_.pairs(); ++pair)
    std::copy_n(hidden_ + batch_.offsets[pair] * stride_, stride_, hidden_ + pair * stride_);
}

/// All heads of one pair: its queries, in rows query_row … query_row + queries, against all its tokens. The
/// result goes to the same rows of the context.
void Run::attend(const loader::Config& config, std::size_t pair, std::size_t query_row, std::size_t queries) {
  const std::size_t row = 3 * stride_;
  for (std::size_t head = 0; head < config.num_attention_heads; ++head) {
    const std::size_t column = head * config.head_dim();
    const float* tokens = query_key_value_ + batch_.offsets[pair] * row + column;
    kernels_.attention_f32({.q = query_key_value_ + query_row * row + column,
                            .k = tokens + stride_,
                            .v = tokens + 2 * stride_,
                            .stride = row,
                            .out = context_ + query_row * stride_ + column,
                            .out_stride = stride_,
                            .queries = queries,
                            .length = batch_.length(pair),
                            .head_dim = config.head_dim(),
                            .scratch = scratch_});
  }
}

/// From context to new hidden states, each row by itself: output projection, residual, LayerNorm, then the
/// feed-forward part, residual, LayerNorm. A block goes through all of it before the next one.
void Run::rewrite_rows(const Fp32Layer& layer, std::size_t rows) {
  const std::size_t inner = layer.intermediate.out;
  for_each_block(rows, [&](std::size_t first, std::size_t count) {
    float* hidden = hidden_ + first * stride_;
    product(layer.attention_output, 0, stride_, context_ + first * stride_, count, projected_, stride_);
    layer_norm(layer.attention_norm, projected_, hidden, count, hidden);
    product(layer.intermediate, 0, inner, hidden, count, inner_, inner);
    activate_(inner_, count * inner);
    product(layer.output, 0, stride_, inner_, count, projected_, stride_);
    layer_norm(layer.output_norm, projected_, hidden, count, hidden);
  });
}

// ---------------------------------------------------------------------------------------------------------
// From [CLS] to logits.

void Run::classify(std::span<float> out, HiddenTrace* trace) {
  const std::size_t labels = model_.config.num_labels;
  const std::size_t logit_stride = weights_.classifier.out;
  for_each_block(batch_.pairs(), [&](std::size_t first, std::size_t pairs) {
    product(weights_.pooler, 0, stride_, hidden_ + first * stride_, pairs, projected_, stride_);
    kernels_.tanh_f32(projected_, pairs * stride_);
    if (trace != nullptr) record(trace->pooled, projected_, pairs);
    product(weights_.classifier, 0, logit_stride, projected_, pairs, logits_, logit_stride);
    for (std::size_t pair = 0; pair < pairs; ++pair)
      std::copy_n(logits_ + pair * logit_stride, labels, out.data() + (first + pair) * labels);
  });
}

// ---------------------------------------------------------------------------------------------------------
// What the steps are made of.

/// Rows of x lie as far apart as the layer's inputs are wide, padded.
void Run::product(const Fp32Linear& layer, std::size_t first_column, std::size_t columns, const float* x,
                  std::size_t rows, float* y, std::size_t y_stride) const {
  kernels_.product_f32({.a = x,
                        .a_stride = padded(layer.in),
                        .b = layer.panels.data() + first_column * layer.in,
                        .bias = layer.bias.data() + first_column,
                        .c = y,
                        .c_stride = y_stride,
                        .m = rows,
                        .n = columns,
                        .k = layer.in});
}

void Run::layer_norm(const Fp32LayerNorm& norm, const float* x, const float* residual, std::size_t rows,
                     float* y) const {
  kernels_.layer_norm_f32({.x = x,
                           .residual = residual,
                           .gamma = norm.gamma.data(),
                           .beta = norm.beta.data(),
                           .y = y,
                           .rows = rows,
                           .n = model_.config.hidden_size,
                           .stride = stride_,
                           .epsilon = model_.config.layer_norm_eps});
}

void Run::record(std::vector<double>& state, const float* rows, std::size_t count) const {
  for (std::size_t row = 0; row < count; ++row) {
    const float* values = rows + row * stride_;
    state.insert(state.end(), values, values + model_.config.hidden_size);
  }
}

}  // namespace

Fp32Pass::Fp32Pass(std::shared_ptr<const loader::Model> model, const kernels::KernelSet& kernels)
    : model_(std::move(model)), kernels_(kernels), weights_(*model_) {}

void Fp32Pass::run(const PackedBatch& batch, std::span<float> logits, Arena& arena) const {
  const ArraySizes sizes(weights_, model_->config, batch.tokens(), batch.longest());
  arena.reset(sizes.bytes());
  Run(*model_, weights_, kernels_, batch, sizes, arena).logits({}, logits, nullptr);
}

void Fp32Pass::run_traced(const PackedBatch& batch, std::span<const float> embeddings,
                          std::span<float> logits, Arena& arena, HiddenTrace& trace) const {
  const ArraySizes sizes(weights_, model_->config, batch.tokens(), batch.longest());
  arena.reset(sizes.bytes());
  trace = {};
  Run(*model_, weights_, kernels_, batch, sizes, arena).logits(embeddings, logits, &trace);
}

std::size_t Fp32Pass::arena_bytes(std::size_t tokens, std::size_t longest) const {
  return ArraySizes(weights_, model_->config, tokens, longest).bytes();
}

std::size_t Fp32Pass::labels() const {
  return model_->config.num_labels;
}

}  // namespace crossbill::engine
