// Read this file from top to bottom to see what happens to a pair of texts once it is a row of token ids:
//
//   ids ─ embeddings ─ layer ─ layer ─ … ─ pooler ─ classifier ─ logits
//
// Every token owns a row of `hidden` numbers, its hidden state. A layer lets each token look at all tokens of
// its pair (self-attention) and then rewrites each token's row by itself (feed-forward). What the last layer
// has made of the first token, [CLS], is the summary of the pair that the classifier turns into a logit.
#include "engine/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "loader/config.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  ///< one row a token

// ---------------------------------------------------------------------------------------------------------
// Three tools that everything below is made of.

/// A row of a weight matrix, whatever form the file keeps it in.
Row widened(const loader::WeightMatrix& matrix, std::size_t row) {
  std::vector<float> values(matrix.cols);
  matrix.widen_row(row, values.data());
  return Row(values.begin(), values.end());
}

/// y = W·x + b for every token. Row n of W holds the weights of output channel n, so that an output is the
/// dot product of that row with the token's row.
Rows linear(const loader::Linear& layer, const Rows& x) {
  Rows y(x.size(), Row(layer.weight.rows));
  for (std::size_t n = 0; n < layer.weight.rows; ++n) {
    const Row weights = widened(layer.weight, n);
    for (std::size_t token = 0; token < x.size(); ++token) {
      double sum = 0;
      for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * x[token][k];
      y[token][n] = sum + static_cast<double>(layer.bias[n]);
    }
  }
  return y;
}

/// Shifts and scales a row to mean 0 and variance 1, then to the learned gamma and beta of each column. The
/// variance is the biased one (divided by n). Epsilon keeps a constant row from dividing by zero.
void layer_norm(Row& row, const loader::LayerNormWeights& weights, double epsilon) {
  const auto n = static_cast<double>(row.size());
  double mean = 0;
  for (double value : row) mean += value / n;
  double variance = 0;
  for (double value : row) variance += (value - mean) * (value - mean) / n;
  const double scale = 1 / std::sqrt(variance + epsilon);
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = (row[i] - mean) * scale * static_cast<double>(weights.gamma[i]) +
             static_cast<double>(weights.beta[i]);
}

// ---------------------------------------------------------------------------------------------------------
// From ids to rows.

/// A token's first hidden state says what it is (word), where it stands (position) and whether it belongs to
/// the query or the passage (token type): three table rows, added up and normalised.
Rows embed(const loader::Model& model, const EncodedPair& pair) {
  Rows x;
  for (std::size_t position = 0; position < pair.ids.size(); ++position) {
    Row row = widened(model.word_embeddings, static_cast<std::size_t>(pair.ids[position]));
    const Row place = widened(model.position_embeddings, position);
    const Row type = widened(model.token_type_embeddings, pair.type_ids[position]);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += place[i] + type[i];
    layer_norm(row, model.embedding_norm, static_cast<double>(model.config.layer_norm_eps));
    x.push_back(std::move(row));
  }
  return x;
}

// ---------------------------------------------------------------------------------------------------------
// One layer.

/// Turns scores into weights that are positive and add up to 1. Subtracting the largest changes nothing in
/// the result and keeps exp() from overflowing.
void softmax(Row& scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

/// Each token asks a question (its query) and offers an answer (its value) under a label (its key). How well
/// a query fits a key, their dot product, decides how much of that value flows into the asking token.
/// Heads do this independently of each other, each on its own head_dim columns. There is no mask, since a
/// pair is never padded.
Rows self_attention(const loader::LayerWeights& layer, const loader::Config& config, const Rows& x) {
  const Rows query = linear(layer.query, x);
  const Rows key = linear(layer.key, x);
  const Rows value = linear(layer.value, x);
  const std::size_t tokens = x.size();
  const std::size_t head_dim = config.head_dim();
  const double scale = 1 / std::sqrt(static_cast<double>(head_dim));

  Rows context(tokens, Row(config.hidden_size, 0.0));
  Row weights(tokens);
  for (std::size_t head = 0; head < config.num_attention_heads; ++head) {
    const std::size_t first = head * head_dim;
    for (std::size_t asking = 0; asking < tokens; ++asking) {
      for (std::size_t other = 0; other < tokens; ++other) {
        double fit = 0;
        for (std::size_t i = first; i < first + head_dim; ++i) fit += query[asking][i] * key[other][i];
        weights[other] = fit * scale;
      }
      softmax(weights);
      for (std::size_t other = 0; other < tokens; ++other)
        for (std::size_t i = first; i < first + head_dim; ++i)
          context[asking][i] += weights[other] * value[other][i];
    }
  }
  return linear(layer.attention_output, context);
}

/// The function between the two products of the feed-forward part. "gelu" is x·Φ(x) with the normal
/// distribution's Φ, exactly; "gelu_new" is an approximation of it, up to 5e-4 away, that some models were
/// trained with.
double activate(loader::HiddenActivation activation, double x) {
  switch (activation) {
    case loader::HiddenActivation::gelu_erf:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case loader::HiddenActivation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case loader::HiddenActivation::relu:
      return std::max(x, 0.0);
  }
  return x;
}

/// Each token by itself: widened to `intermediate` numbers (mostly four times as many), bent, and back.
Rows feed_forward(const loader::LayerWeights& layer, const loader::Config& config, const Rows& x) {
  Rows inner = linear(layer.intermediate, x);
  for (Row& row : inner)
    for (double& value : row) value = activate(config.hidden_act, value);
  return linear(layer.output, inner);
}

/// What a step computes is added to what was there before (the residual), and the sum is normalised.
void add_and_norm(Rows& x, const Rows& step, const loader::LayerNormWeights& norm, double epsilon) {
  for (std::size_t token = 0; token < x.size(); ++token) {
    for (std::size_t i = 0; i < x[token].size(); ++i) x[token][i] += step[token][i];
    layer_norm(x[token], norm, epsilon);
  }
}

void encoder_layer(const loader::LayerWeights& layer, const loader::Config& config, Rows& x) {
  const auto epsilon = static_cast<double>(config.layer_norm_eps);
  add_and_norm(x, self_attention(layer, config, x), layer.attention_norm, epsilon);
  add_and_norm(x, feed_forward(layer, config, x), layer.output_norm, epsilon);
}

// ---------------------------------------------------------------------------------------------------------
// From [CLS] to logits.

void record(HiddenTrace* trace, const Rows& x) {
  if (trace == nullptr) return;
  std::vector<double>& state = trace->states.emplace_back();
  for (const Row& row : x) state.insert(state.end(), row.begin(), row.end());
}

Row logits_from(const loader::Model& model, Rows x, HiddenTrace* trace) {
  if (trace != nullptr) *trace = {};
  record(trace, x);
  for (const loader::LayerWeights& layer : model.layers) {
    encoder_layer(layer, model.config, x);
    record(trace, x);
  }
  Rows pooled = linear(model.pooler, {x.front()});  // the row of [CLS]
  for (double& value : pooled.front()) value = std::tanh(value);
  if (trace != nullptr) trace->pooled = pooled.front();
  return linear(model.classifier, pooled).front();
}

}  // namespace

std::vector<double> reference_logits(const loader::Model& model, const EncodedPair& pair,
                                     HiddenTrace* trace) {
  return logits_from(model, embed(model, pair), trace);
}

std::vector<double> reference_logits_from_embeddings(const loader::Model& model,
                                                     std::span<const float> embeddings, HiddenTrace* trace) {
  const std::size_t hidden = model.config.hidden_size;
  Rows x;
  for (std::size_t first = 0; first < embeddings.size(); first += hidden) {
    const auto row = embeddings.subspan(first, hidden);
    x.emplace_back(row.begin(), row.end());
  }
  return logits_from(model, std::move(x), trace);
}

// ---------------------------------------------------------------------------------------------------------
// The same behind the interface that all forward passes share.

ReferencePass::ReferencePass(std::shared_ptr<const loader::Model> model) : model_(std::move(model)) {}

void ReferencePass::run(const PackedBatch& batch, std::span<float> logits, Arena& /*arena*/) const {
  auto out = logits.begin();
  for (std::size_t pair = 0; pair < batch.pairs(); ++pair) {
    const auto begin = static_cast<std::ptrdiff_t>(batch.offsets[pair]);
    const auto end = static_cast<std::ptrdiff_t>(batch.offsets[pair + 1]);
    const EncodedPair encoded{{batch.token_ids.begin() + begin, batch.token_ids.begin() + end},
                              {batch.type_ids.begin() + begin, batch.type_ids.begin() + end},
                              false};
    for (double logit : reference_logits(*model_, encoded)) *out++ = static_cast<float>(logit);
  }
}

std::size_t ReferencePass::arena_bytes(std::size_t /*tokens*/, std::size_t /*longest*/) const {
  return 0;
}

std::size_t ReferencePass::labels() const {
  return model_->config.num_labels;
}

}  // namespace crossbill::engine
