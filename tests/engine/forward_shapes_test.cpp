// The fp32 pass against the reference on random models of many shapes, hidden states included.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <ostream>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "engine/reference.hpp"
#include "handmade_model.hpp"
#include "kernels/dispatch.hpp"

namespace crossbill::engine {
namespace {

using loader::HiddenActivation;

struct Shape {
  std::size_t layers, heads, head_dim, intermediate, labels;
  HiddenActivation activation;
  float epsilon = 1e-12f;

  friend void PrintTo(const Shape& shape, std::ostream* out) {
    *out << shape.layers << " layers, " << shape.heads << " heads of " << shape.head_dim << ", "
         << shape.intermediate << " inner, " << shape.labels << " labels";
  }
};

class ForwardShapes : public testing::TestWithParam<Shape> {};

TEST_P(ForwardShapes, Fp32FollowsTheReference) {
  const Shape& shape = GetParam();
  loader::Config config = test::small_config(shape.layers, shape.heads, shape.head_dim, shape.intermediate,
                                             shape.labels, shape.activation);
  config.layer_norm_eps = shape.epsilon;
  const auto model = test::random_model(config, 17);
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    const Fp32Pass pass(model, *kernels);
    ASSERT_EQ(pass.labels(), shape.labels);
    Arena arena;
    unsigned seed = 1;
    for (std::size_t tokens : {1, 2, 3, 15, 16, 17, 33, 64, 65, 70}) {
      SCOPED_TRACE(testing::Message() << kernels->name << ", " << tokens << " tokens");
      const EncodedPair pair = test::random_pair(config, tokens, ++seed);
      HiddenTrace expected;
      const std::vector<double> expected_logits = reference_logits(*model, pair, &expected);

      PackedBatch batch;
      batch.append(pair);
      std::vector<float> logits(shape.labels);
      HiddenTrace trace;
      pass.run_traced(batch, {}, logits, arena, trace);
      ASSERT_EQ(trace.states.size(), expected.states.size());
      for (std::size_t step = 0; step < trace.states.size(); ++step) {
        ASSERT_EQ(trace.states[step].size(), expected.states[step].size());
        for (std::size_t i = 0; i < trace.states[step].size(); ++i)
          ASSERT_NEAR(trace.states[step][i], expected.states[step][i], 2e-5)
              << "state " << step << ", token " << i / config.hidden_size << ", column "
              << i % config.hidden_size;
      }
      for (std::size_t label = 0; label < shape.labels; ++label)
        EXPECT_NEAR(logits[label], expected_logits[label], 2e-5);

      pass.run(batch, logits, arena);
      for (std::size_t label = 0; label < shape.labels; ++label)
        EXPECT_NEAR(logits[label], expected_logits[label], 2e-5) << "with [CLS] alone in the last layer";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ForwardShapes,
    testing::Values(Shape{1, 1, 10, 24, 1, HiddenActivation::gelu_erf},
                    Shape{2, 4, 10, 40, 2, HiddenActivation::relu},        // hidden 40: padded to 48
                    Shape{2, 12, 26, 100, 1, HiddenActivation::gelu_erf},  // hidden 312, as TinyBERT's
                    Shape{3, 2, 32, 128, 5, HiddenActivation::gelu_tanh},
                    Shape{2, 2, 64, 512, 3, HiddenActivation::gelu_erf},   // BERT-tiny
                    Shape{4, 3, 16, 77, 17, HiddenActivation::gelu_tanh},  // more labels than a column group
                    Shape{1, 5, 1, 3, 1, HiddenActivation::relu},
                    Shape{2, 1, 80, 33, 4, HiddenActivation::gelu_erf},
                    Shape{2, 2, 16, 64, 1, HiddenActivation::gelu_erf,
                          0.5f}));  // epsilon comes from the file

TEST(ForwardShapes, ConstantRowsGiveTheBiasAndNotNaN) {
  const loader::Config config = test::small_config(1, 1, 16, 16, 1, HiddenActivation::gelu_erf);
  const auto model = test::random_model(config, 5);
  const loader::LayerNormWeights norm = model->embedding_norm;
  // An embedding layer that says 3 of every token in every column: its LayerNorm must give beta.
  const std::vector<float> threes(config.vocab_size * config.hidden_size, 3.0f);
  const std::vector<float> zeros(config.max_position_embeddings * config.hidden_size, 0.0f);
  loader::Model constant = *model;
  constant.word_embeddings.data = reinterpret_cast<const std::byte*>(threes.data());
  constant.position_embeddings.data = reinterpret_cast<const std::byte*>(zeros.data());
  constant.token_type_embeddings.data = reinterpret_cast<const std::byte*>(zeros.data());
  const auto shared = std::make_shared<const loader::Model>(constant);
  PackedBatch batch;
  batch.append(test::random_pair(config, 4, 1));
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    Arena arena;
    HiddenTrace trace;
    std::vector<float> logits(1);
    Fp32Pass(shared, *kernels).run_traced(batch, {}, logits, arena, trace);
    for (std::size_t i = 0; i < config.hidden_size; ++i)
      EXPECT_EQ(static_cast<float>(trace.states[0][i]), norm.beta[i]) << kernels->name;
  }
}

}  // namespace
}  // namespace crossbill::engine
