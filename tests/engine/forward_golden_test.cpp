// Logits from text against PyTorch's, on trained models: tokenizer, loader and forward pass together.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "engine/reference.hpp"
#include "golden_scores.hpp"
#include "kernels/dispatch.hpp"
#include "loader/model.hpp"
#include "loader/packing.hpp"
#include "tokenizer/tokenizer.hpp"

namespace crossbill::engine {
namespace {

constexpr double kTolerance = 1e-4;
constexpr std::size_t kBatchTokens = 512;

std::vector<EncodedPair> encode(const loader::Model& model, const std::vector<test::GoldenScore>& golden) {
  const tokenizer::Tokenizer tokenizer(model.tokenizer_settings, model.vocabulary);
  const EncodeOptions options{.max_length = model.config.max_position_embeddings};
  std::vector<EncodedPair> pairs;
  for (const test::GoldenScore& score : golden) {
    pairs.push_back(tokenizer.encode(score.query, score.passage, options));
    EXPECT_EQ(pairs.back().ids.size(), score.tokens) << score.query << " | " << score.passage;
  }
  return pairs;
}

std::vector<float> run_in_batches(const ForwardPass& pass, const std::vector<EncodedPair>& pairs) {
  std::vector<float> logits(pairs.size() * pass.labels());
  Arena arena;
  PackedBatch batch;
  std::size_t done = 0;
  for (const EncodedPair& pair : pairs) {
    batch.append(pair);
    if (batch.tokens() < kBatchTokens && &pair != &pairs.back()) continue;
    const std::size_t count = batch.pairs() * pass.labels();
    pass.run(batch, std::span(logits).subspan(done, count), arena);
    done += count;
    batch.clear();
  }
  return logits;
}

/// `what` names the run in the report's property "largest_error_…".
void expect_golden(const std::string& what, const std::vector<float>& logits,
                   const std::vector<test::GoldenScore>& golden) {
  double largest = 0;
  auto logit = logits.begin();
  for (const test::GoldenScore& score : golden) {
    for (const double expected : score.logits) {
      ASSERT_NE(logit, logits.end());
      EXPECT_NEAR(*logit, expected, kTolerance) << score.query << " | " << score.passage;
      largest = std::max(largest, std::abs(static_cast<double>(*logit++) - expected));
    }
  }
  EXPECT_EQ(logit, logits.end());
  testing::Test::RecordProperty("largest_error_" + what, testing::PrintToString(largest));
}

/// Pairs that a slow pass can be asked for: every `step`th, if it is short.
std::vector<test::GoldenScore> sample(const std::vector<test::GoldenScore>& golden, std::size_t step) {
  std::vector<test::GoldenScore> chosen;
  for (std::size_t i = 0; i < golden.size(); i += step)
    if (golden[i].tokens <= 40) chosen.push_back(golden[i]);
  return chosen;
}

/// On every kernel set that this machine has; a few pairs on the portable one, where a fused multiply-add is
/// made of double-precision steps.
void expect_golden_on_all_kernel_sets(const std::shared_ptr<const loader::Model>& model,
                                      const std::vector<test::GoldenScore>& golden) {
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    SCOPED_TRACE(kernels->name);
    const bool slow = std::string_view(kernels->name) == "portable";
    const auto asked = slow ? sample(golden, 20) : golden;
    ASSERT_FALSE(asked.empty());
    expect_golden(kernels->name, run_in_batches(Fp32Pass(model, *kernels), encode(*model, asked)), asked);
  }
}

/// The delivered float16 folders and golden/scores/.
class GoldenScores : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto data = test::data_folder();
    if (!data) GTEST_SKIP() << "CROSSBILL_DATA is not set, and the models and their scores lie there";
    model_ = loader::open_model(*data / "models" / GetParam());
    golden_ = test::read_golden_scores(*data / "golden" / "scores" / (std::string(GetParam()) + ".jsonl"));
    ASSERT_EQ(golden_.size(), 300u);
  }

  std::shared_ptr<const loader::Model> model_;
  std::vector<test::GoldenScore> golden_;
};

TEST_P(GoldenScores, FromTheFolder) {
  expect_golden_on_all_kernel_sets(model_, golden_);
}

TEST_P(GoldenScores, FromThePackedFileWithTheSameBits) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("crossbill-golden-" + std::to_string(::getpid()) + "-" + GetParam() + ".cbm");
  loader::pack_model(*model_, file, loader::PackedWeights::f16);
  const auto packed = loader::open_model(file);
  std::filesystem::remove(file);  // the mapping lives on
  const Fp32Pass pass(packed, kernels::best_kernel_set());
  expect_golden("packed", run_in_batches(pass, encode(*packed, golden_)), golden_);

  const auto some = encode(*model_, sample(golden_, 10));
  EXPECT_EQ(run_in_batches(pass, some), run_in_batches(Fp32Pass(model_, kernels::best_kernel_set()), some));
}

TEST_P(GoldenScores, OfTheReference) {
  const auto asked = sample(golden_, 30);
  ASSERT_GE(asked.size(), 3u);
  expect_golden("reference", run_in_batches(ReferencePass(model_), encode(*model_, asked)), asked);
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenScores, testing::Values("crossbill-minilm-l3", "crossbill-minilm-l6"));

/// Random weights, sizes that are no multiples of 16; float32 and bfloat16; one of them with three labels,
/// the tanh GELU and a cased vocabulary.
class TinyModels : public testing::TestWithParam<const char*> {};

TEST_P(TinyModels, LogitsOfTheFolder) {
  const std::string path = std::string(CROSSBILL_TEST_DATA "/tiny/") + GetParam();
  const auto model = loader::open_model(path);
  const auto golden = test::read_golden_scores(path + ".golden.jsonl");
  ASSERT_GE(golden.size(), 10u);
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets())
    expect_golden(kernels->name, run_in_batches(Fp32Pass(model, *kernels), encode(*model, golden)), golden);
  expect_golden("reference", run_in_batches(ReferencePass(model), encode(*model, golden)), golden);
}

INSTANTIATE_TEST_SUITE_P(Folders, TinyModels, testing::Values("one-label", "three-labels"));

/// The bundled model: PyTorch ran on what `crossbill unpack` makes of it.
TEST(BundledModel, LogitsOfTheUnpackedWeights) {
  const auto model = loader::open_model(CROSSBILL_MODELS "/crossbill-minilm-l3.cbm");
  const auto golden = test::read_golden_scores(CROSSBILL_TEST_DATA "/golden/crossbill-minilm-l3-int8.jsonl");
  ASSERT_GE(golden.size(), 30u);
  expect_golden_on_all_kernel_sets(model, golden);
}

TEST(BundledModel, ReferenceLogitsOfTheUnpackedWeights) {
  const auto model = loader::open_model(CROSSBILL_MODELS "/crossbill-minilm-l3.cbm");
  const auto golden =
      sample(test::read_golden_scores(CROSSBILL_TEST_DATA "/golden/crossbill-minilm-l3-int8.jsonl"), 20);
  ASSERT_FALSE(golden.empty());
  expect_golden("reference", run_in_batches(ReferencePass(model), encode(*model, golden)), golden);
}

}  // namespace
}  // namespace crossbill::engine
