// From texts to scores: a long input is encoded and scored window by window, so that memory is bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "engine/scorer.hpp"

namespace crossbill::engine {

/// Tokens of a window, by estimate: enough for all threads to share, little enough to keep encoded.
inline constexpr std::size_t kWindowTokens = 256 * 1024;

/// Numbered texts. Both functions are called from several threads at once.
struct TextSource {
  std::string_view noun;  ///< what one is called in errors: "pair", "passage"
  std::size_t count = 0;
  std::size_t shared_tokens = 0;  ///< that each has beside its own text: those of the query of a ranking
  std::function<std::size_t(std::size_t)> bytes;  ///< of text that has to be read for number i
  std::function<EncodedPair(std::size_t)> encode;
};

/// One Score per text. `max_length` is the most tokens that one can have. An Error about one text names its
/// number; of several the smallest.
std::vector<Score> score_texts(Scorer& scorer, const TextSource& source, std::size_t max_length,
                               const CallOptions& options);

}  // namespace crossbill::engine
