// Crossbill scores (query, passage) pairs with BERT cross-encoders.
//
//   crossbill::Reranker reranker("models/crossbill-minilm-l3.cbm");
//   std::vector<std::string_view> passages = {"Canberra is the capital of Australia.", "Sydney is big."};
//   for (const auto& hit : reranker.rank("capital of australia", passages))
//     std::printf("%8.3f  %s\n", hit.score, passages[hit.index].data());
//
// All text is UTF-8; invalid bytes are read as U+FFFD, as Python's errors="replace" does. Const methods may
// be called from any number of threads at once. Errors are thrown as crossbill::Error; where the system has
// no memory or no thread to give, std::bad_alloc or std::system_error passes through. Nothing is printed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/encoding.hpp"
#include "crossbill/error.hpp"
#include "crossbill/visibility.hpp"

namespace crossbill {

class WorkQueue;  // crossbill/work_queue.hpp

/// Library version, for example "0.1.0".
CROSSBILL_API const char* version() noexcept;

enum class Precision {
  automatic,  ///< fp32; models packed as int8 or f16 are widened when they are opened
  fp32,       ///< single precision, the same bits in every batch, order and thread count
  reference,  ///< plain loops in double precision: slow, the oracle of the tests
};

/// What is applied to a logit to make it a score.
enum class Activation {
  model,    ///< what the model's configuration names, else none
  none,     ///< the raw logit
  sigmoid,  ///< 1/(1+exp(-logit))
};

/// How the weights of a .cbm file are held.
enum class Loading {
  map,   ///< mapped; the file must not be shortened while the Reranker lives
  copy,  ///< read (from a file or from the caller's memory) into memory of its own
};

/// Fixed when a model is opened.
struct Options {
  /// At most so many compute at once, callers included; 0: default_threads().
  int threads = 0;
  Precision precision = Precision::automatic;
  /// Tokens a pair; 0: what the model allows; else at least 3 and at most the model's positions.
  std::size_t max_length = 0;
  Truncation truncation = Truncation::longest_first;
  TruncationSide truncation_side = TruncationSide::right;
  bool special_tokens_as_text = false;  ///< see EncodeOptions
  Activation activation = Activation::model;
  std::string isa;  ///< kernel set by name; empty: CROSSBILL_ISA if set, else the best this machine has
  /// Bytes for the activations of all threads together; 0: those of a chunk of 512 tokens in each thread. Too
  /// little for one pair of max_length tokens in each thread is an Error that says how much is needed.
  std::size_t memory_budget = 0;
  Loading loading = Loading::map;
};

/// How far a call has come: `done` of `total` pairs. Called from the calling thread only, at most every 50
/// ms, and at the end once with done == total. What it throws ends the call.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

/// Per call.
struct CallOptions {
  Progress progress;
  std::stop_token stop;  ///< looked at between chunks; a stop is Error cancelled
  std::optional<std::chrono::steady_clock::time_point> deadline;  ///< likewise; Error deadline_exceeded
};

struct Pair {
  std::string_view query;
  std::string_view passage;
};

struct Score {
  std::vector<float> logits;  ///< [labels] the classifier's raw outputs
  std::vector<float> values;  ///< [labels] after the activation in force
  std::int32_t tokens = 0;    ///< of the pair as scored, [CLS] and [SEP] included
  bool truncated = false;     ///< whether tokens were left out to fit max_length

  float score() const { return values.front(); }
};

struct RankedPassage {
  std::size_t index = 0;  ///< into the passages given
  float score = 0;        ///< after the activation in force
  float logit = 0;
  std::int32_t tokens = 0;
  bool truncated = false;
};

struct RankOptions : CallOptions {
  std::optional<std::size_t> top_n;  ///< absent: all; more than there are: all; 0 is Error invalid_argument
  std::string label;                 ///< required if the model has several; a name from ModelInfo::labels
};

/// What is known of an opened model and of how it runs.
struct ModelInfo {
  std::string name, format;
  std::string weights;  ///< "f32", "f16", "bf16", "int8"
  std::size_t layers = 0, hidden_size = 0, heads = 0, intermediate_size = 0, vocabulary = 0;
  std::size_t max_length = 0;  ///< in force
  std::vector<std::string> labels;
  std::string activation;  ///< in force: "none" or "sigmoid"
  std::string precision;   ///< in force: "fp32" or "reference"
  std::string isa;         ///< in force
  std::string source_sha256;
  std::vector<std::string> unused_tensors;
  std::size_t file_bytes = 0;
  int threads = 0;
};

/// An opened model, ready to score. Movable; opening is the expensive part, so keep one.
class CROSSBILL_API Reranker {
 public:
  /// A .cbm file or a Hugging Face folder (config.json, model.safetensors, tokenizer files).
  explicit Reranker(const std::filesystem::path& model, const Options& options = {});
  /// A .cbm file in memory. The bytes must outlive the Reranker if they are 64-byte aligned and
  /// Options::loading is `map`, else they are copied.
  explicit Reranker(std::span<const std::byte> cbm, const Options& options = {});
  ~Reranker();
  Reranker(Reranker&&) noexcept;
  Reranker& operator=(Reranker&&) noexcept;

  /// One Score per pair, in input order. A score doesn't depend on the other pairs, their order or the
  /// threads. An Error about one pair names its index.
  std::vector<Score> score(std::span<const Pair> pairs, const CallOptions& options = {}) const;
  Score score(std::string_view query, std::string_view passage) const;
  /// Pairs that were encoded elsewhere, for example by encode() on another thread. Ids outside the
  /// vocabulary, an empty pair or one longer than the model's positions (or, with a memory budget, than that
  /// allows) are Error invalid_argument.
  std::vector<Score> score(std::span<const EncodedPair> pairs, const CallOptions& options = {}) const;

  /// Best first: by logit, ties by index, NaN last. The query is tokenised once. An Error about one passage
  /// names its index.
  std::vector<RankedPassage> rank(std::string_view query, std::span<const std::string_view> passages,
                                  const RankOptions& options = {}) const;

  EncodedPair encode(std::string_view query, std::string_view passage) const;
  /// Tokens with their spelling and character offsets, of a pair or of a single text.
  Tokenization tokenize(std::string_view query, std::string_view passage) const;
  Tokenization tokenize(std::string_view text) const;

  /// Takes work without waiting for it: crossbill/work_queue.hpp. Lives as long as the Reranker.
  WorkQueue& queue() const noexcept;

  const ModelInfo& info() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One instruction set that this build has kernels for.
struct KernelSetInfo {
  std::string name;
  bool available = false;  ///< this CPU and operating system can run it
};
/// Narrowest first; the last available one is what `Options::isa` defaults to.
CROSSBILL_API std::vector<KernelSetInfo> kernel_sets();
/// Threads that `Options::threads = 0` means here: the environment variable CROSSBILL_THREADS if it holds a
/// number from 1 to 1024, else physical cores within the affinity mask and the cgroup's CPU quota.
CROSSBILL_API int default_threads();

}  // namespace crossbill
