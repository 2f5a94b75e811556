#include "tokenizer/tokenizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/encoding.hpp"
#include "crossbill/error.hpp"
#include "tokenizer/message.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/text_rules.hpp"
#include "tokenizer/text_scanner.hpp"
#include "tokenizer/truncation.hpp"
#include "tokenizer/vocabulary.hpp"
#include "tokenizer/vocabulary_block.hpp"

namespace crossbill::tokenizer {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::size_t budget_of(const EncodeOptions& options, std::size_t template_tokens) {
  if (options.max_length < template_tokens) {
    throw Error(ErrorCode::invalid_argument, "max_length is " + std::to_string(options.max_length) +
                                                 ", but [CLS] and [SEP] alone take " +
                                                 std::to_string(template_tokens) + " tokens");
  }
  return options.max_length - template_tokens;
}

/// How many tokens of a text are worth making: one more than can be kept tells that more follow.
std::size_t scan_limit(const EncodeOptions& options, std::size_t budget) {
  return options.side == TruncationSide::left ? kNoLimit : budget + 1;
}

/// The kept part [begin, begin + kept) of `count` tokens.
std::size_t kept_begin(std::size_t count, std::size_t kept, TruncationSide side) {
  return side == TruncationSide::right ? 0 : count - kept;
}

void check_special(std::int32_t id, const char* name, const Vocabulary& vocabulary,
                   const Settings& settings) {
  const bool added = std::any_of(settings.added_tokens.begin(), settings.added_tokens.end(),
                                 [id](const AddedToken& token) { return token.id == id; });
  if (!added && (id < 0 || static_cast<std::size_t>(id) >= vocabulary.size())) {
    throw Error(ErrorCode::bad_model, std::string("the id ") + std::to_string(id) + " of " + name +
                                          " is outside the vocabulary of " +
                                          std::to_string(vocabulary.size()));
  }
}

void check_added(const AddedToken& token, const Vocabulary& vocabulary) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorCode::bad_model, "the added token " + in_quotes(token.content) + " with id " +
                                          std::to_string(token.id) + " " + reason);
  };
  if (token.id < 0 || static_cast<std::uint32_t>(token.id) >= kMostIds) {
    refuse("is outside 0.." + std::to_string(kMostIds - 1));
  }
  const auto known = vocabulary.find(token.content);
  if (known && *known != token.id) {
    refuse("has id " + std::to_string(*known) + " in the vocabulary");
  }
  if (!known && !vocabulary.token(token.id).empty()) {
    refuse("has the id of " + in_quotes(vocabulary.token(token.id)) + " in the vocabulary");
  }
}

}  // namespace

struct Tokenizer::Impl {
  Settings settings;
  Vocabulary vocabulary;
  TextRules rules;

  Impl(Settings given, Vocabulary words)
      : settings(std::move(given)), vocabulary(std::move(words)), rules(settings, vocabulary) {}

  SideCounts kept(SideCounts full, bool complete, std::string_view query, std::string_view passage,
                  const EncodeOptions& options, std::size_t budget) const;
  bool query_is_longer(std::string_view query, std::string_view passage, bool as_text,
                       std::size_t known) const;
  [[noreturn]] void refuse_length(std::string_view query, std::string_view passage,
                                  const EncodeOptions& options) const;
  void append(Tokenization& out, std::int32_t id, std::uint8_t type) const;
  void append(Tokenization& out, std::vector<ExplainedToken>& tokens, std::size_t kept, TruncationSide side,
              std::uint8_t type) const;
};

/// What is kept of both sides. `full` may be capped at budget + 1; `complete` is false if both are.
SideCounts Tokenizer::Impl::kept(SideCounts full, bool complete, std::string_view query,
                                 std::string_view passage, const EncodeOptions& options,
                                 std::size_t budget) const {
  if (is_too_long(full, budget, options.truncation)) {
    refuse_length(query, passage, options);
  }
  const bool order_matters = !complete && budget % 2 == 1 && options.truncation == Truncation::longest_first;
  if (order_matters && query_is_longer(query, passage, options.special_tokens_as_text, budget + 1)) {
    ++full.query;
  }
  return kept_tokens(full, budget, options.truncation);
}

/// Both texts have `known` tokens or more. Reads as far as the end of the shorter one, give or take a factor.
bool Tokenizer::Impl::query_is_longer(std::string_view query, std::string_view passage, bool as_text,
                                      std::size_t known) const {
  for (std::size_t limit = 4 * known;; limit *= 4) {
    const std::size_t in_query = std::min(limit, scan_count(query, rules, as_text, limit));
    const std::size_t in_passage = std::min(limit, scan_count(passage, rules, as_text, limit));
    if (in_query < limit || in_passage < limit) {
      return in_query > in_passage;
    }
  }
}

void Tokenizer::Impl::refuse_length(std::string_view query, std::string_view passage,
                                    const EncodeOptions& options) const {
  const bool as_text = options.special_tokens_as_text;
  std::string sentence =
      "the query has " + std::to_string(scan_count(query, rules, as_text, kNoLimit)) +
      " tokens and the passage " + std::to_string(scan_count(passage, rules, as_text, kNoLimit)) +
      "; with [CLS] and two [SEP] that is over max_length " + std::to_string(options.max_length);
  if (options.truncation == Truncation::only_query) {
    sentence += ", and cutting the query alone can't make it fit";
  } else if (options.truncation == Truncation::only_passage) {
    sentence += ", and cutting the passage alone can't make it fit";
  }
  throw Error(ErrorCode::input_too_long, sentence);
}

void Tokenizer::Impl::append(Tokenization& out, std::int32_t id, std::uint8_t type) const {
  out.ids.push_back(id);
  out.type_ids.push_back(type);
  out.offsets.push_back({0, 0});
  std::string_view token = vocabulary.token(id);
  for (const AddedToken& added : settings.added_tokens) {
    token = token.empty() && added.id == id ? std::string_view(added.content) : token;
  }
  out.tokens.emplace_back(token);
}

void Tokenizer::Impl::append(Tokenization& out, std::vector<ExplainedToken>& tokens, std::size_t kept,
                             TruncationSide side, std::uint8_t type) const {
  const std::size_t begin = kept_begin(tokens.size(), kept, side);
  for (std::size_t i = begin; i < begin + kept; ++i) {
    ExplainedToken& token = tokens[i];
    out.ids.push_back(token.id);
    out.type_ids.push_back(type);
    out.offsets.push_back(token.offset);
    out.tokens.push_back(token.text.empty() ? std::string(vocabulary.token(token.id))
                                            : std::move(token.text));
  }
}

Tokenizer::Tokenizer(Settings settings, Vocabulary vocabulary) {
  check_special(settings.cls_id, "[CLS]", vocabulary, settings);
  check_special(settings.sep_id, "[SEP]", vocabulary, settings);
  for (const AddedToken& token : settings.added_tokens) {
    check_added(token, vocabulary);
  }
  impl_ = std::make_shared<const Impl>(std::move(settings), std::move(vocabulary));
}

EncodedPair Tokenizer::encode(std::string_view query, std::string_view passage,
                              const EncodeOptions& options) const {
  return join(tokenize_side(query, options), tokenize_side(passage, options), options);
}

SideTokens Tokenizer::tokenize_side(std::string_view text, const EncodeOptions& options) const {
  const std::size_t budget = budget_of(options, kPairTemplateTokens);
  const std::size_t limit = scan_limit(options, budget);
  SideTokens side;
  side.text = text;
  side.ids.reserve(std::min(limit, text.size() / 3 + 1));
  scan_ids(text, impl_->rules, options.special_tokens_as_text, limit, side.ids);
  if (side.ids.size() >= limit) {
    side.ids.resize(budget);
    side.complete = false;
  }
  return side;
}

EncodedPair Tokenizer::join(const SideTokens& query, const SideTokens& passage,
                            const EncodeOptions& options) const {
  const std::size_t budget = budget_of(options, kPairTemplateTokens);
  const SideCounts full = {query.ids.size() + (query.complete ? 0 : 1),
                           passage.ids.size() + (passage.complete ? 0 : 1)};
  const SideCounts kept =
      impl_->kept(full, query.complete || passage.complete, query.text, passage.text, options, budget);
  const Settings& settings = impl_->settings;
  const auto side = [&](const std::vector<std::int32_t>& ids, std::size_t count) {
    return ids.begin() + static_cast<std::ptrdiff_t>(kept_begin(ids.size(), count, options.side));
  };
  const std::size_t total = kept.query + kept.passage + kPairTemplateTokens;
  const auto query_begin = side(query.ids, kept.query);
  const auto passage_begin = side(passage.ids, kept.passage);
  EncodedPair pair;
  pair.truncated = kept != full;
  pair.ids.reserve(total);
  pair.ids.push_back(settings.cls_id);
  pair.ids.insert(pair.ids.end(), query_begin, query_begin + static_cast<std::ptrdiff_t>(kept.query));
  pair.ids.push_back(settings.sep_id);
  pair.ids.insert(pair.ids.end(), passage_begin, passage_begin + static_cast<std::ptrdiff_t>(kept.passage));
  pair.ids.push_back(settings.sep_id);
  pair.type_ids.assign(total, settings.second_type_id);
  std::fill_n(pair.type_ids.begin(), kept.query + 2, settings.first_type_id);
  return pair;
}

Tokenization Tokenizer::explain(std::string_view query, std::string_view passage,
                                const EncodeOptions& options) const {
  const std::size_t budget = budget_of(options, kPairTemplateTokens);
  const std::size_t limit = scan_limit(options, budget);
  const Impl& impl = *impl_;
  auto query_tokens = scan_explained(query, impl.rules, options.special_tokens_as_text, limit);
  auto passage_tokens = scan_explained(passage, impl.rules, options.special_tokens_as_text, limit);
  const SideCounts full = {std::min(query_tokens.size(), limit), std::min(passage_tokens.size(), limit)};
  const bool complete = full.query < limit || full.passage < limit;
  const SideCounts kept = impl.kept(full, complete, query, passage, options, budget);
  Tokenization out;
  out.truncated = kept != full;
  impl.append(out, impl.settings.cls_id, impl.settings.first_type_id);
  impl.append(out, query_tokens, kept.query, options.side, impl.settings.first_type_id);
  impl.append(out, impl.settings.sep_id, impl.settings.first_type_id);
  impl.append(out, passage_tokens, kept.passage, options.side, impl.settings.second_type_id);
  impl.append(out, impl.settings.sep_id, impl.settings.second_type_id);
  return out;
}

Tokenization Tokenizer::explain(std::string_view text, const EncodeOptions& options) const {
  const std::size_t budget = budget_of(options, kSingleTemplateTokens);
  const std::size_t limit = scan_limit(options, budget);
  const Impl& impl = *impl_;
  const bool as_text = options.special_tokens_as_text;
  auto tokens = scan_explained(text, impl.rules, as_text, limit);
  if (is_too_long({tokens.size(), 0}, budget, options.truncation)) {
    throw Error(ErrorCode::input_too_long,
                "the text has " + std::to_string(scan_count(text, impl.rules, as_text, kNoLimit)) +
                    " tokens; with [CLS] and [SEP] that is over max_length " +
                    std::to_string(options.max_length));
  }
  const std::size_t kept = std::min(tokens.size(), budget);
  Tokenization out;
  out.truncated = kept != tokens.size();
  impl.append(out, impl.settings.cls_id, impl.settings.first_type_id);
  impl.append(out, tokens, kept, options.side, impl.settings.first_type_id);
  impl.append(out, impl.settings.sep_id, impl.settings.first_type_id);
  return out;
}

std::size_t Tokenizer::id_limit() const noexcept {
  std::size_t limit = impl_->vocabulary.size();
  for (const AddedToken& token : impl_->settings.added_tokens) {
    limit = std::max(limit, static_cast<std::size_t>(token.id) + 1);
  }
  return limit;
}

const Settings& Tokenizer::settings() const noexcept {
  return impl_->settings;
}
const Vocabulary& Tokenizer::vocabulary() const noexcept {
  return impl_->vocabulary;
}

}  // namespace crossbill::tokenizer
