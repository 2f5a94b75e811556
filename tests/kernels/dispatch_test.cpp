// The list of kernel sets, and a report of which of them these tests covered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "kernels/cpu_features.hpp"
#include "kernels/dispatch.hpp"

namespace crossbill::kernels {
namespace {

TEST(Dispatch, PortableComesFirstAndIsAlwaysThere) {
  ASSERT_FALSE(available_kernel_sets().empty());
  EXPECT_STREQ(built_kernel_sets().front()->name, "portable");
  EXPECT_EQ(available_kernel_sets().front(), built_kernel_sets().front());
}

TEST(Dispatch, AvailableMeansBuiltAndDetected) {
  std::string covered;
  std::string missing;
  for (const KernelSet* set : built_kernel_sets()) {
    const auto available = available_kernel_sets();
    const bool listed = std::find(available.begin(), available.end(), set) != available.end();
    EXPECT_EQ(listed, (set->required & ~detected_cpu_features()) == 0) << set->name;
    EXPECT_EQ(find_available(set->name), listed ? set : nullptr);
    (listed ? covered : missing) += std::string(" ") + set->name;
  }
  // Shown in every run's output, so that a set that was never tested can't go unnoticed.
  std::printf("kernel sets covered:%s; built but not on this CPU:%s\n", covered.c_str(),
              missing.empty() ? " none" : missing.c_str());
}

TEST(Dispatch, BestIsTheWidestAvailable) {
  EXPECT_EQ(&best_kernel_set(), available_kernel_sets().back());
}

TEST(Dispatch, UnknownNamesAreNotFound) {
  for (const char* name : {"", "AVX2", "avx", "avx2 ", "sse"}) {
    EXPECT_EQ(find_available(name), nullptr) << name;
  }
}

TEST(Dispatch, EveryFunctionIsThere) {
  for (const KernelSet* set : built_kernel_sets()) {
    EXPECT_TRUE(set->product_f32 && set->attention_f32 && set->layer_norm_f32 && set->gelu_erf_f32 &&
                set->gelu_tanh_f32 && set->relu_f32 && set->tanh_f32 && set->sigmoid_f32 && set->exp_f32)
        << set->name;
  }
}

}  // namespace
}  // namespace crossbill::kernels
