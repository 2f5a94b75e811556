// A whole text normalised at once, for added tokens that are looked for in normalised text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/normaliser.hpp"

namespace crossbill::tokenizer {

struct NormalisedText {
  std::string bytes;               ///< valid UTF-8
  std::vector<TokenOffset> spans;  ///< [code points of `bytes`] what each stands for in the original text
};

/// `first` is the index of the text's first code point in the original.
NormalisedText normalise(std::string_view text, const NormaliserRules& rules, std::uint32_t first = 0);

}  // namespace crossbill::tokenizer
