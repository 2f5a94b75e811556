// Text in, ids out: BERT WordPiece, identical to Hugging Face `tokenizers`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {

/// The ids of one side of a pair, without template tokens.
struct SideTokens {
  std::vector<std::int32_t> ids;
  /// false: tokenising stopped at the asked-for number of tokens, more would follow.
  bool complete = true;
  /// The text itself, borrowed: where neither side is complete, `join` may have to read on to see which of
  /// the two is the longer.
  std::string_view text;
};

/// Immutable after construction; every method may be called from any number of threads at once.
class Tokenizer {
 public:
  /// Error bad_model if the settings contradict the vocabulary ([CLS] or an added token outside it, …). A
  /// vocabulary without the unknown token is accepted, as Hugging Face does; the first word that needs it is
  /// Error bad_model.
  Tokenizer(Settings settings, Vocabulary vocabulary);

  /// [CLS] query [SEP] passage [SEP], cut to options.max_length. Invalid UTF-8 is read as Python's
  /// errors="replace" reads it (tokenizer/utf8.hpp). Error invalid_argument if max_length < 3; input_too_long
  /// as `Truncation` says. A side that is cut on the right is read no further than the cut, so a word that
  /// only the unknown token could spell, in a vocabulary without it, is an error only before the cut.
  EncodedPair encode(std::string_view query, std::string_view passage, const EncodeOptions& options) const;

  /// The same in two steps, so that the query of a ranking is tokenised once. `tokenize_side` may stop once
  /// it has more tokens than `options` can ever keep of that side; `join`, with the same options and while
  /// both texts live, gives what `encode` gives.
  SideTokens tokenize_side(std::string_view text, const EncodeOptions& options) const;
  EncodedPair join(const SideTokens& query, const SideTokens& passage, const EncodeOptions& options) const;

  /// As `encode`, with token strings and character offsets.
  Tokenization explain(std::string_view query, std::string_view passage, const EncodeOptions& options) const;
  /// A single text: [CLS] text [SEP]; cut to max_length (at least 2). It counts as the query, so only_passage
  /// can't shorten it.
  Tokenization explain(std::string_view text, const EncodeOptions& options) const;

  /// Largest id that an encoding can hold, plus one: of the vocabulary and of the added tokens, which may lie
  /// beyond it. An embedding table needs that many rows.
  std::size_t id_limit() const noexcept;
  const Settings& settings() const noexcept;
  const Vocabulary& vocabulary() const noexcept;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace crossbill::tokenizer
