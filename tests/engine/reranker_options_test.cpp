// Options and what is in force: activation (case S1), kernel set, threads, length (T26), memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "kernels/dispatch.hpp"
#include "reranker_inputs.hpp"

namespace crossbill {
namespace {

using test::bits_of;
using test::error_of;

Reranker open(const std::string& model, void (*change)(Options&)) {
  Options options;
  change(options);
  return Reranker(model, options);
}

TEST(RerankerActivation, IsTheModelsOwnUnlessAskedOtherwiseAndIsNamed) {
  const Reranker identity(test::kBundledModel);
  EXPECT_EQ(identity.info().activation, "none");
  const Reranker sigmoid = open(test::kBundledModel, [](Options& o) { o.activation = Activation::sigmoid; });
  EXPECT_EQ(sigmoid.info().activation, "sigmoid");
  const Reranker by_model(test::kThreeLabels);
  EXPECT_EQ(by_model.info().activation, "sigmoid");
  const Reranker none = open(test::kThreeLabels, [](Options& o) { o.activation = Activation::none; });
  EXPECT_EQ(none.info().activation, "none");

  const char *query = "capital of australia", *passage = "Canberra is the capital city of Australia.";
  const Score raw = identity.score(query, passage), mapped = sigmoid.score(query, passage);
  EXPECT_EQ(raw.values, raw.logits);
  EXPECT_EQ(mapped.logits, raw.logits);
  EXPECT_NEAR(mapped.score(), 1 / (1 + std::exp(-static_cast<double>(raw.score()))), 2e-7);
  const Score labels = by_model.score(query, passage);
  ASSERT_EQ(labels.values.size(), 3u);
  for (std::size_t l = 0; l < 3; ++l) {  // each by itself, no softmax
    EXPECT_NEAR(labels.values[l], 1 / (1 + std::exp(-static_cast<double>(labels.logits[l]))), 2e-7);
  }
}

TEST(RerankerOptions, AnUnknownKernelSetIsRefusedWithTheAvailableOnes) {
  std::string available;
  for (const auto* set : kernels::available_kernel_sets()) {
    available += (available.empty() ? "" : ", ") + std::string(set->name);
  }
  EXPECT_EQ(
      error_of([] { open(test::kTinyModel, [](Options& o) { o.isa = "avx9"; }); }),
      "invalid_argument: the option isa names \"avx9\"; kernel sets that this machine can run: " + available);
  setenv("CROSSBILL_ISA", "sse0", 1);
  EXPECT_EQ(error_of([] { Reranker reranker(test::kTinyModel); }),
            "invalid_argument: the environment variable CROSSBILL_ISA names \"sse0\"; kernel sets that this "
            "machine can run: " +
                available);
  setenv("CROSSBILL_ISA", "portable", 1);
  EXPECT_EQ(Reranker(test::kTinyModel).info().isa, "portable");
  unsetenv("CROSSBILL_ISA");
  EXPECT_EQ(Reranker(test::kTinyModel).info().isa, kernels::best_kernel_set().name);
}

TEST(RerankerOptions, EveryAvailableKernelSetGivesTheSameBits) {
  const test::MixedPairs pairs(6, 4);
  const auto expected = bits_of(Reranker(test::kBundledModel).score(pairs));
  int covered = 0;
  for (const KernelSetInfo& set : kernel_sets()) {
    if (!set.available) continue;
    Options options;
    options.isa = set.name;
    const Reranker reranker(test::kBundledModel, options);
    EXPECT_EQ(reranker.info().isa, set.name);
    EXPECT_EQ(bits_of(reranker.score(pairs)), expected) << set.name;
    ++covered;
  }
  EXPECT_GE(covered, 1);
}

TEST(RerankerOptions, ThreadsOutOfRangeAreRefused) {
  EXPECT_EQ(error_of([] { open(test::kTinyModel, [](Options& o) { o.threads = -1; }); }),
            "invalid_argument: threads is -1; it must be 0 (as many as there are cores) to 1024");
  EXPECT_EQ(error_of([] { open(test::kTinyModel, [](Options& o) { o.threads = 1025; }); }),
            "invalid_argument: threads is 1025; it must be 0 (as many as there are cores) to 1024");
  EXPECT_EQ(Reranker(test::kTinyModel).info().threads, default_threads());
}

TEST(RerankerOptions, LengthComesFromTheModelUnlessGiven) {
  EXPECT_EQ(Reranker(test::kBundledModel).info().max_length, 512u);
  // Its tokenizer says 1000000000000000019884624838656, that is, no limit; it has 61 positions.
  EXPECT_EQ(Reranker(test::kThreeLabels).info().max_length, 61u);
  EXPECT_EQ(open(test::kTinyModel, [](Options& o) { o.max_length = 3; }).score("a b c", "d e f").tokens, 3);
  for (const std::size_t bad : {1u, 2u, 62u}) {
    Options options;
    options.max_length = bad;
    EXPECT_EQ(error_of([&] { Reranker(test::kThreeLabels, options); }),
              "invalid_argument: max_length is " + std::to_string(bad) +
                  "; for this model it must be 3 to 61, or 0 for what the model asks for");
  }
}

TEST(RerankerOptions, AMemoryBudgetBoundsChunksAndNotScores) {
  const test::MixedPairs pairs(10, 6);
  const auto expected = bits_of(Reranker(test::kTinyModel).score(pairs));
  const Reranker small = open(test::kTinyModel, [](Options& o) { o.memory_budget = 1 << 20; });
  EXPECT_EQ(bits_of(small.score(pairs)), expected);
}

TEST(RerankerOptions, TheReferencePassIsWithinToleranceOfTheFastOne) {
  const Reranker fast(test::kTinyModel);
  const Reranker slow = open(test::kTinyModel, [](Options& o) { o.precision = Precision::reference; });
  EXPECT_EQ(fast.info().precision, "fp32");
  EXPECT_EQ(slow.info().precision, "reference");
  EXPECT_NEAR(fast.score("red bridge", "An old bridge.").score(),
              slow.score("red bridge", "An old bridge.").score(), 1e-4);
}

/// A file in memory that begins `shift` bytes past a 64-byte boundary.
class FileInMemory {
 public:
  FileInMemory(const std::string& path, std::size_t shift) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    block_ = static_cast<std::byte*>(::operator new (bytes.size() + shift, std::align_val_t{64}));
    std::memcpy(block_ + shift, bytes.data(), bytes.size());
    span_ = {block_ + shift, bytes.size()};
  }
  ~FileInMemory() { ::operator delete (block_, std::align_val_t{64}); }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  std::span<const std::byte> span() const { return span_; }
  void scribble() { std::memset(block_, 0xaa, span_.size()); }

 private:
  std::byte* block_;
  std::span<const std::byte> span_;
};

TEST(RerankerFromMemory, GivesTheSameBitsAlignedOrNotMappedOrCopied) {
  const test::MixedPairs pairs(5, 6);
  const auto expected = bits_of(Reranker(test::kBundledModel).score(pairs));
  const Reranker copied_file = open(test::kBundledModel, [](Options& o) { o.loading = Loading::copy; });
  EXPECT_EQ(bits_of(copied_file.score(pairs)), expected);
  for (const std::size_t shift : {0u, 1u}) {
    FileInMemory file(test::kBundledModel, shift);
    EXPECT_EQ(bits_of(Reranker(file.span()).score(pairs)), expected);
    Options options;
    options.loading = Loading::copy;
    const Reranker copy(file.span(), options);
    file.scribble();
    EXPECT_EQ(bits_of(copy.score(pairs)), expected);
  }
}

TEST(Reranker, IsMovable) {
  Reranker first(test::kTinyModel);
  const float score = first.score("crow", "seeds").score();
  Reranker second(std::move(first));
  EXPECT_EQ(second.score("crow", "seeds").score(), score);
  first = std::move(second);
  EXPECT_EQ(first.score("crow", "seeds").score(), score);
}

TEST(Reranker, DescribesTheModel) {
  const Reranker reranker(test::kBundledModel);
  EXPECT_EQ(reranker.info().name, test::kBundledModel);
  EXPECT_EQ(reranker.info().format, "cbm version 0");
  EXPECT_EQ(reranker.info().weights, "int8");
  EXPECT_EQ(reranker.info().layers, 3u);
  EXPECT_EQ(reranker.info().hidden_size, 384u);
  EXPECT_EQ(reranker.info().heads, 12u);
  EXPECT_EQ(reranker.info().intermediate_size, 1536u);
  EXPECT_EQ(reranker.info().vocabulary, 30522u);
  EXPECT_EQ(reranker.info().labels.size(), 1u);
  EXPECT_EQ(reranker.info().source_sha256,
            "3fa95568b9a4f8a0bca7e1fdd1e8bfdb15083be84bfae37d03db6bde156786fd");
  EXPECT_FALSE(std::string_view(version()).empty());
}

TEST(KernelSets, AreListedNarrowestFirstAndPortableIsAlwaysThere) {
  const auto sets = kernel_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front().name, "portable");
  EXPECT_TRUE(sets.front().available);
}

}  // namespace
}  // namespace crossbill
