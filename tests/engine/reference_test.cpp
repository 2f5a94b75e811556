// The oracle itself, against figures from elsewhere: a real trained encoder in double precision, and hidden
// states that PyTorch gave for our own models.
#include "engine/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "golden_scores.hpp"
#include "handmade_model.hpp"
#include "kernels/dispatch.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {
namespace {

/// A BERT-tiny that was trained on film reviews, with the embedding layer's output for seven of them and the
/// logits in float64.
class RealTinyEncoder : public testing::Test {
 protected:
  void SetUp() override {
    const auto data = test::data_folder();
    if (!data) GTEST_SKIP() << "CROSSBILL_DATA is not set, and the encoder lies there";
    const auto folder = *data / "models" / "bert-tiny-sst2-encoder";
    model_ =
        test::model_from_tensors(test::small_config(2, 2, 64, 512, 2, loader::HiddenActivation::gelu_erf),
                                 test::read_f32_safetensors(folder / "encoder.safetensors"));
    inputs_ = test::read_f32_safetensors(folder / "inputs_embedding_output.safetensors");
    expected_ = nlohmann::json::parse(std::ifstream(folder / "expected.json")).at("sets");
    ASSERT_EQ(expected_.size(), 7u);
  }

  void expect_near(const std::string& name, const std::vector<double>& logits, const HiddenTrace& trace,
                   double tolerance) {
    const auto expected = expected_.at(name).at("logits").get<std::vector<double>>();
    ASSERT_EQ(logits.size(), expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], tolerance) << name;
    const std::vector<float>& hidden = inputs_.at(name + ".last_hidden").values;
    ASSERT_EQ(trace.states.size(), 3u);
    ASSERT_EQ(trace.states.back().size(), hidden.size());
    for (std::size_t i = 0; i < hidden.size(); ++i)
      ASSERT_NEAR(trace.states.back()[i], hidden[i], tolerance) << name << ", value " << i;
  }

  std::shared_ptr<const loader::Model> model_;
  test::Tensors inputs_;
  nlohmann::json expected_;
};

TEST_F(RealTinyEncoder, ReferenceGivesTheLogitsOfDoublePrecision) {
  for (const auto& [name, set] : expected_.items()) {
    HiddenTrace trace;
    const auto logits = reference_logits_from_embeddings(*model_, inputs_.at(name).values, &trace);
    expect_near(name, logits, trace, 2e-6);  // the file's hidden states are rounded to float32
  }
}

TEST_F(RealTinyEncoder, Fp32IsWithinItsTolerance) {
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    SCOPED_TRACE(kernels->name);
    const Fp32Pass pass(model_, *kernels);
    Arena arena;
    for (const auto& [name, set] : expected_.items()) {
      const auto tokens = set.at("tokens").get<std::size_t>();
      PackedBatch batch;
      batch.append({std::vector<std::int32_t>(tokens), std::vector<std::uint8_t>(tokens), false});
      std::vector<float> logits(2);
      HiddenTrace trace;
      pass.run_traced(batch, inputs_.at(name).values, logits, arena, trace);
      expect_near(name, {logits.begin(), logits.end()}, trace, 1e-4);
    }
  }
}

/// golden/scores/hidden_first.json: eight values of the first and the last token after each layer.
class HiddenStates : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto data = test::data_folder();
    if (!data) GTEST_SKIP() << "CROSSBILL_DATA is not set, and the golden hidden states lie there";
    model_ = loader::open_model(*data / "models" / GetParam());
    golden_ = nlohmann::json::parse(std::ifstream(*data / "golden" / "scores" / "hidden_first.json"));
  }

  static EncodedPair pair_of(const nlohmann::json& golden) {
    return {golden.at("input_ids"), golden.at("token_type_ids"), false};
  }

  void expect_near(const nlohmann::json& golden, double logit, const HiddenTrace& trace, double tolerance) {
    EXPECT_NEAR(logit, golden.at("logit"), 1e-4);
    const std::size_t hidden = model_->config.hidden_size;
    ASSERT_EQ(trace.states.size(), golden.at("states").size());
    for (std::size_t step = 0; step < trace.states.size(); ++step) {
      SCOPED_TRACE("after " + golden["states"][step].at("after").get<std::string>());
      const std::vector<double>& state = trace.states[step];
      for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_NEAR(state[i], golden["states"][step].at("token0_first8").at(i), tolerance);
        EXPECT_NEAR(state[state.size() - hidden + i], golden["states"][step].at("last_token_first8").at(i),
                    tolerance);
      }
    }
    for (std::size_t i = 0; i < 8; ++i)
      EXPECT_NEAR(trace.pooled[i], golden.at("pooler_first8").at(i), tolerance);
  }

  std::shared_ptr<const loader::Model> model_;
  nlohmann::json golden_;
};

TEST_P(HiddenStates, OfTheReferenceFollowPyTorchLayerByLayer) {
  for (const auto& golden : golden_.at(GetParam())) {
    HiddenTrace trace;
    const auto logits = reference_logits(*model_, pair_of(golden), &trace);
    expect_near(golden, logits.at(0), trace, 2e-5);
  }
}

TEST_P(HiddenStates, OfTheFp32PassFollowPyTorchLayerByLayer) {
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    SCOPED_TRACE(kernels->name);
    const Fp32Pass pass(model_, *kernels);
    Arena arena;
    for (const auto& golden : golden_.at(GetParam())) {
      PackedBatch batch;
      batch.append(pair_of(golden));
      std::vector<float> logits(1);
      HiddenTrace trace;
      pass.run_traced(batch, {}, logits, arena, trace);
      expect_near(golden, logits[0], trace, 2e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HiddenStates, testing::Values("crossbill-minilm-l3", "crossbill-minilm-l6"));

}  // namespace
}  // namespace crossbill::engine
