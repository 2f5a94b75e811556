// A forward pass whose logits are known, and that can be made slow, or fail, or be watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/forward_pass.hpp"
#include "engine/scorer.hpp"

namespace crossbill::engine::test {

/// Label l of a pair gets the sum of its ids, times l + 1.
class FakePass final : public ForwardPass {
 public:
  static constexpr std::size_t kBytesPerToken = 1000;
  using Hook = std::function<void(const PackedBatch&)>;

  explicit FakePass(std::size_t labels = 1, Hook before = {}) : labels_(labels), before_(std::move(before)) {}

  static float logit(std::span<const std::int32_t> ids, std::size_t label = 0) {
    std::int64_t sum = 0;
    for (const std::int32_t id : ids) sum += id;
    return static_cast<float>(sum) * static_cast<float>(label + 1);
  }

  void run(const PackedBatch& batch, std::span<float> logits, Arena& arena) const override {
    if (before_) before_(batch);
    arena.reset(arena_bytes(batch.tokens(), batch.longest()));
    for (std::size_t p = 0; p < batch.pairs(); ++p) {
      const auto ids = std::span(batch.token_ids).subspan(batch.offsets[p], batch.length(p));
      for (std::size_t l = 0; l < labels_; ++l) logits[p * labels_ + l] = logit(ids, l);
    }
  }
  std::size_t arena_bytes(std::size_t tokens, std::size_t /*longest*/) const override {
    return tokens * kBytesPerToken;
  }
  std::size_t labels() const override { return labels_; }

 private:
  std::size_t labels_;
  Hook before_;
};

inline void fake_sigmoid(float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? 1.0f : 0.25f;
}

/// Ids below 1000, 512 positions, 2 token types; scores are logits, or 1 and 0.25 with Activation::sigmoid.
inline std::unique_ptr<Scorer> fake_scorer(int threads, FakePass::Hook before = {}, std::size_t labels = 1,
                                           std::size_t memory_budget = 0,
                                           Activation activation = Activation::none) {
  static const kernels::KernelSet kernel_set = [] {
    kernels::KernelSet set{};
    set.name = "fake";
    set.sigmoid_f32 = fake_sigmoid;
    return set;
  }();
  auto pass = std::make_unique<FakePass>(labels, std::move(before));
  const auto budget = ChunkBudget::within(memory_budget, threads, 128, *pass);
  return std::make_unique<Scorer>(std::move(pass),
                                  ScoreFunction(activation, loader::ScoreActivation::identity, kernel_set),
                                  PairLimits{1000, 512, 2}, budget, threads);
}

inline EncodedPair fake_pair(std::size_t tokens, std::int32_t first_id = 1) {
  EncodedPair pair;
  for (std::size_t t = 0; t < tokens; ++t) {
    pair.ids.push_back((first_id + static_cast<std::int32_t>(t)) % 1000);
    pair.type_ids.push_back(t > tokens / 2);
  }
  pair.truncated = tokens % 2 == 1;
  return pair;
}

}  // namespace crossbill::engine::test
