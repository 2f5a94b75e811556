// What the fp32 pass promises of its bits: neither the other pairs of a batch nor their order, the kernel
// set, the arena's past or the shortcut in the last layer changes one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/arena.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/packed_batch.hpp"
#include "engine/reference.hpp"
#include "handmade_model.hpp"
#include "kernels/dispatch.hpp"

namespace crossbill::engine {
namespace {

using Bits = std::vector<std::uint32_t>;

Bits bits_of(std::span<const float> values) {
  Bits bits;
  for (float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

constexpr std::size_t kLabels = 3;

class ForwardProperties : public testing::Test {
 protected:
  ForwardProperties() {
    const std::vector<std::size_t> lengths = {3, 70, 16, 1, 48, 2, 33, 17, 49, 5, 64, 31, 7, 50, 12, 23};
    for (std::size_t i = 0; i < lengths.size(); ++i)
      pairs_.push_back(test::random_pair(config_, lengths[i], static_cast<unsigned>(i)));
  }

  Bits run(const kernels::KernelSet& kernels, std::span<const std::size_t> chosen) const {
    const Fp32Pass pass(model_, kernels);
    Arena arena;
    return run(pass, chosen, arena);
  }
  Bits run(const Fp32Pass& pass, std::span<const std::size_t> chosen, Arena& arena) const {
    std::vector<float> logits(chosen.size() * kLabels);
    pass.run(batch_of(chosen), logits, arena);
    return bits_of(logits);
  }
  PackedBatch batch_of(std::span<const std::size_t> chosen) const {
    PackedBatch batch;
    for (std::size_t pair : chosen) batch.append(pairs_[pair]);
    return batch;
  }
  std::vector<std::size_t> all() const {
    std::vector<std::size_t> indices(pairs_.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    return indices;
  }

  /// Hidden size 52 and 90 inner columns: neither fills its groups of 16.
  loader::Config config_ = test::small_config(3, 4, 13, 90, kLabels, loader::HiddenActivation::gelu_erf);
  std::shared_ptr<const loader::Model> model_ = test::random_model(config_, 3);
  std::vector<EncodedPair> pairs_;
};

TEST_F(ForwardProperties, BatchMatesAndOrderChangeNothing) {
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
    SCOPED_TRACE(kernels->name);
    const Fp32Pass pass(model_, *kernels);
    Arena arena;
    std::vector<Bits> alone;
    for (std::size_t pair : all()) alone.push_back(run(pass, std::vector{pair}, arena));
    EXPECT_NE(alone[0], alone[1]);

    std::mt19937 random(11);
    std::vector<std::size_t> chosen = all();
    for (int round = 0; round < 30; ++round) {
      const Bits together = run(pass, chosen, arena);
      for (std::size_t i = 0; i < chosen.size(); ++i)
        ASSERT_EQ(Bits(together.begin() + static_cast<std::ptrdiff_t>(i * kLabels),
                       together.begin() + static_cast<std::ptrdiff_t>((i + 1) * kLabels)),
                  alone[chosen[i]])
            << "round " << round << ", pair " << chosen[i];
      chosen = all();
      std::shuffle(chosen.begin(), chosen.end(), random);
      chosen.resize(std::uniform_int_distribution<std::size_t>(1, chosen.size())(random));
    }
  }
}

TEST_F(ForwardProperties, MoreShortPairsThanABlockOfRows) {
  std::vector<std::size_t> many;
  for (std::size_t i = 0; i < 130; ++i) many.push_back(i % 2 == 0 ? 3 : 5);  // one token, two tokens
  const kernels::KernelSet& kernels = kernels::best_kernel_set();
  const Bits together = run(kernels, many);
  const Bits one = run(kernels, std::vector<std::size_t>{3});
  const Bits two = run(kernels, std::vector<std::size_t>{5});
  for (std::size_t i = 0; i < many.size(); ++i)
    for (std::size_t label = 0; label < kLabels; ++label)
      ASSERT_EQ(together[i * kLabels + label], i % 2 == 0 ? one[label] : two[label]);
}

TEST_F(ForwardProperties, EveryKernelSetGivesTheSameBits) {
  const Bits portable = run(*kernels::find_available("portable"), all());
  for (const kernels::KernelSet* kernels : kernels::available_kernel_sets())
    EXPECT_EQ(run(*kernels, all()), portable) << kernels->name;
}

TEST_F(ForwardProperties, LastLayerForClsAloneEqualsTheWholeLayer) {
  for (std::size_t layers : {1, 2, 3}) {
    config_.num_hidden_layers = layers;
    const auto model = test::random_model(config_, 8);
    for (const kernels::KernelSet* kernels : kernels::available_kernel_sets()) {
      const Fp32Pass pass(model, *kernels);
      Arena arena;
      const PackedBatch batch = batch_of(all());
      std::vector<float> cls(batch.pairs() * kLabels), whole(cls.size());
      pass.run(batch, cls, arena);
      HiddenTrace trace;
      pass.run_traced(batch, {}, whole, arena, trace);
      EXPECT_EQ(bits_of(cls), bits_of(whole)) << kernels->name << ", " << layers << " layers";
    }
  }
}

TEST_F(ForwardProperties, UsedMemoryHoldsNoTrace) {
  const Fp32Pass pass(model_, kernels::best_kernel_set());
  Arena fresh, used;
  used.reset(1 << 20);
  std::fill_n(used.floats((1 << 20) / sizeof(float)), (1 << 20) / sizeof(float),
              std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(run(pass, all(), used), run(pass, all(), fresh));
}

TEST_F(ForwardProperties, ArenaBytesIsWhatARunTakes) {
  const Fp32Pass pass(model_, kernels::best_kernel_set());
  for (const std::vector<std::size_t>& chosen : {std::vector<std::size_t>{3}, {0}, {1}, {0, 1, 2}, all()}) {
    const PackedBatch batch = batch_of(chosen);
    Arena arena;
    run(pass, chosen, arena);
    EXPECT_EQ(arena.used(), pass.arena_bytes(batch.tokens(), batch.longest()));
    EXPECT_EQ(arena.capacity(), arena.used());
  }
}

TEST_F(ForwardProperties, ReferenceScoresAPackedBatchPairByPair) {
  const ReferencePass pass(model_);
  const PackedBatch batch = batch_of(all());
  std::vector<float> logits(batch.pairs() * kLabels);
  Arena arena;
  pass.run(batch, logits, arena);
  EXPECT_EQ(pass.labels(), kLabels);
  EXPECT_EQ(arena.capacity(), pass.arena_bytes(batch.tokens(), batch.longest()));
  for (std::size_t pair : all()) {
    const std::vector<double> alone = reference_logits(*model_, pairs_[pair]);
    for (std::size_t label = 0; label < kLabels; ++label)
      EXPECT_EQ(logits[pair * kLabels + label], static_cast<float>(alone[label]));
  }
}

}  // namespace
}  // namespace crossbill::engine
