// The public API: opens a model, and puts tokenizer, forward pass, threads and ranking together.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "crossbill/work_queue.hpp"
#include "engine/float_environment.hpp"
#include "engine/fp32_pass.hpp"
#include "engine/option_checks.hpp"
#include "engine/progress_report.hpp"
#include "engine/ranking.hpp"
#include "engine/reference.hpp"
#include "engine/score_function.hpp"
#include "engine/scorer.hpp"
#include "engine/text_scoring.hpp"
#include "loader/model.hpp"
#include "tokenizer/tokenizer.hpp"

namespace crossbill {
namespace {

std::shared_ptr<const loader::Model> open_file(const std::filesystem::path& path, const Options& options) {
  const engine::FloatEnvironment environment;  // weights may be widened here
  return loader::open_model(
      path, options.loading == Loading::copy ? loader::LoadMode::copy : loader::LoadMode::map);
}

std::shared_ptr<const loader::Model> open_memory(std::span<const std::byte> cbm, const Options& options) {
  const engine::FloatEnvironment environment;
  if (options.loading == Loading::map) return loader::open_model(cbm, nullptr);
  constexpr std::align_val_t kAlignment{64};
  const std::shared_ptr<std::byte> copy(static_cast<std::byte*>(::operator new(cbm.size(), kAlignment)),
                                        [](std::byte* bytes) { ::operator delete(bytes, kAlignment); });
  if (!cbm.empty()) std::memcpy(copy.get(), cbm.data(), cbm.size());
  return loader::open_model({copy.get(), cbm.size()}, copy);
}

std::unique_ptr<const engine::ForwardPass> make_pass(const std::shared_ptr<const loader::Model>& model,
                                                     Precision precision, const kernels::KernelSet& kernels) {
  const engine::FloatEnvironment environment;
  if (precision == Precision::reference) return std::make_unique<engine::ReferencePass>(model);
  return std::make_unique<engine::Fp32Pass>(model, kernels);
}

const char* name_of(loader::DType dtype) {
  switch (dtype) {
    case loader::DType::f32:
      return "f32";
    case loader::DType::f16:
      return "f16";
    case loader::DType::bf16:
      return "bf16";
    case loader::DType::s8:
      return "int8";
  }
  return "unknown";
}

}  // namespace

struct Reranker::Impl {
  Impl(std::shared_ptr<const loader::Model> opened, const Options& options)
      : model(std::move(opened)),
        kernels(engine::chosen_kernel_set(options.isa)),
        threads(engine::chosen_threads(options.threads)),
        encode_options{engine::chosen_max_length(options.max_length, *model), options.truncation,
                       options.truncation_side, options.special_tokens_as_text},
        tokenizer(model->tokenizer_settings, model->vocabulary),
        score_function(options.activation, model->config.score_activation, kernels),
        scorer(make_scorer(options)),
        queue(*scorer),
        info(describe(options)) {}

  std::unique_ptr<engine::Scorer> make_scorer(const Options& options) const {
    auto pass = make_pass(model, options.precision, kernels);
    const engine::PairLimits limits{model->config.vocab_size, model->config.max_position_embeddings,
                                    model->config.type_vocab_size};
    const auto budget =
        engine::ChunkBudget::within(options.memory_budget, threads, encode_options.max_length, *pass);
    return std::make_unique<engine::Scorer>(std::move(pass), score_function, limits, budget, threads);
  }

  ModelInfo describe(const Options& options) const {
    const loader::Config& config = model->config;
    ModelInfo info;
    info.name = model->name;
    info.format = model->format;
    info.weights = name_of(model->weight_dtype);
    info.layers = config.num_hidden_layers;
    info.hidden_size = config.hidden_size;
    info.heads = config.num_attention_heads;
    info.intermediate_size = config.intermediate_size;
    info.vocabulary = config.vocab_size;
    info.max_length = encode_options.max_length;
    info.labels = config.labels;
    info.activation = score_function.name();
    info.precision = options.precision == Precision::reference ? "reference" : "fp32";
    info.isa = kernels.name;
    info.source_sha256 = model->source_sha256;
    info.unused_tensors = model->unused_tensors;
    info.file_bytes = model->bytes;
    info.threads = threads;
    return info;
  }

  const std::shared_ptr<const loader::Model> model;
  const kernels::KernelSet& kernels;
  const int threads;
  const EncodeOptions encode_options;
  const tokenizer::Tokenizer tokenizer;
  const engine::ScoreFunction score_function;
  const std::unique_ptr<engine::Scorer> scorer;
  WorkQueue queue;
  const ModelInfo info;
};

Reranker::Reranker(const std::filesystem::path& model, const Options& options)
    : impl_(std::make_unique<Impl>(open_file(model, options), options)) {}
Reranker::Reranker(std::span<const std::byte> cbm, const Options& options)
    : impl_(std::make_unique<Impl>(open_memory(cbm, options), options)) {}
Reranker::~Reranker() = default;
Reranker::Reranker(Reranker&&) noexcept = default;
Reranker& Reranker::operator=(Reranker&&) noexcept = default;

std::vector<Score> Reranker::score(std::span<const Pair> pairs, const CallOptions& options) const {
  engine::TextSource source;
  source.noun = "pair";
  source.count = pairs.size();
  source.bytes = [&](std::size_t i) { return pairs[i].query.size() + pairs[i].passage.size(); };
  source.encode = [&](std::size_t i) { return encode(pairs[i].query, pairs[i].passage); };
  return engine::score_texts(*impl_->scorer, source, impl_->encode_options.max_length, options);
}

Score Reranker::score(std::string_view query, std::string_view passage) const {
  const Pair pair{query, passage};
  return score(std::span(&pair, 1)).front();
}

std::vector<Score> Reranker::score(std::span<const EncodedPair> pairs, const CallOptions& options) const {
  engine::ProgressReport progress(options.progress, pairs.size());
  std::function<void(std::size_t)> pulse;
  if (options.progress) pulse = [&](std::size_t done) { progress.update(done); };
  std::vector<Score> scores(pairs.size());
  impl_->scorer->check(pairs);
  impl_->scorer->score(pairs, scores, {options.stop, options.deadline}, pulse);
  progress.finish();
  return scores;
}

std::vector<RankedPassage> Reranker::rank(std::string_view query, std::span<const std::string_view> passages,
                                          const RankOptions& options) const {
  if (options.top_n == std::size_t{0}) {
    throw Error(ErrorCode::invalid_argument, "top_n is 0; it must be at least 1, or absent for all passages");
  }
  const std::size_t label = engine::chosen_label(options.label, impl_->info);
  const tokenizer::Tokenizer& tokenizer = impl_->tokenizer;
  const EncodeOptions& how = impl_->encode_options;
  const tokenizer::SideTokens query_tokens = tokenizer.tokenize_side(query, how);

  engine::TextSource source;
  source.noun = "passage";
  source.count = passages.size();
  source.shared_tokens = query_tokens.ids.size();
  source.bytes = [&](std::size_t i) { return passages[i].size(); };
  source.encode = [&](std::size_t i) {
    return tokenizer.join(query_tokens, tokenizer.tokenize_side(passages[i], how), how);
  };
  const std::vector<Score> scores = engine::score_texts(*impl_->scorer, source, how.max_length, options);

  std::vector<float> logits;
  logits.reserve(scores.size());
  for (const Score& score : scores) logits.push_back(score.logits[label]);
  std::vector<RankedPassage> ranked;
  for (const std::size_t index : engine::best_first(logits, options.top_n.value_or(passages.size()))) {
    const Score& score = scores[index];
    ranked.push_back({index, score.values[label], score.logits[label], score.tokens, score.truncated});
  }
  return ranked;
}

EncodedPair Reranker::encode(std::string_view query, std::string_view passage) const {
  return impl_->tokenizer.encode(query, passage, impl_->encode_options);
}

Tokenization Reranker::tokenize(std::string_view query, std::string_view passage) const {
  return impl_->tokenizer.explain(query, passage, impl_->encode_options);
}

Tokenization Reranker::tokenize(std::string_view text) const {
  return impl_->tokenizer.explain(text, impl_->encode_options);
}

WorkQueue& Reranker::queue() const noexcept {
  return impl_->queue;
}

const ModelInfo& Reranker::info() const noexcept {
  return impl_->info;
}

const char* version() noexcept {
  return CROSSBILL_VERSION;
}

}  // namespace crossbill
