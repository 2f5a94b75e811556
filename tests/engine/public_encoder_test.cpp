// Last hidden states of a real public encoder against PyTorch's in float64. Optional:
// prepare_public_encoder.py makes the folder that CROSSBILL_ENCODER names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "engine/reference.hpp"
#include "kernels/dispatch.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {
namespace {

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(PublicEncoder, LastHiddenStatesFollowPyTorch) {
  const char* folder = std::getenv("CROSSBILL_ENCODER");
  if (folder == nullptr) GTEST_SKIP() << "CROSSBILL_ENCODER is not set; see prepare_public_encoder.py";
  const auto model = loader::open_model(folder);
  const auto sets =
      nlohmann::json::parse(std::ifstream(std::filesystem::path(folder) / "hidden_states.json"));
  ASSERT_FALSE(sets.empty());
  double reference = 0, fp32 = 0;
  for (const auto& set : sets) {
    const EncodedPair pair{set.at("ids"), set.at("type_ids"), false};
    const auto expected = set.at("last_hidden").get<std::vector<double>>();
    HiddenTrace trace;
    reference_logits(*model, pair, &trace);
    reference = std::max(reference, largest_difference(trace.states.back(), expected));
    for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
      if (std::string(kernels->name) == "portable") continue;
      PackedBatch batch;
      batch.append(pair);
      std::vector<float> logits(1);
      Arena arena;
      Fp32Pass(model, *kernels).run_traced(batch, {}, logits, arena, trace);
      fp32 = std::max(fp32, largest_difference(trace.states.back(), expected));
    }
  }
  RecordProperty("largest_error_reference", testing::PrintToString(reference));
  RecordProperty("largest_error_fp32", testing::PrintToString(fp32));
  EXPECT_LT(reference, 1e-9);
  EXPECT_LT(fp32, 1e-5);
}

}  // namespace
}  // namespace crossbill::engine
