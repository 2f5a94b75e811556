// What the tokenizer must know of a code point. The tables are those of the Hugging Face library, which mixes
// Unicode versions: categories of 8.0, decompositions of 9.0, lower case of 17.0
// (tools/make_unicode_tables.py).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace crossbill::tokenizer {

struct CodePointProperties {
  std::uint16_t flags = 0;           ///< sum of the constants below
  std::uint8_t combining_class = 0;  ///< canonical combining class; 0 for a starter
};

constexpr std::uint16_t kRemovedByCleaning = 1;  ///< control, format, private use, U+0000, U+FFFD
constexpr std::uint16_t kSpaceByCleaning = 2;    ///< white space that is not removed before
constexpr std::uint16_t kChineseCharacter = 4;   ///< the ranges that get a space on both sides
constexpr std::uint16_t kWhiteSpace = 8;         ///< the White_Space property
constexpr std::uint16_t kPunctuation = 16;       ///< category P, or one of ASCII's own symbols
constexpr std::uint16_t kNonspacingMark = 32;    ///< category Mn, what `strip_accents` removes
constexpr std::uint16_t kWordCharacter = 64;     ///< \w of regular expressions
constexpr std::uint16_t kHasDecomposition = 128;
constexpr std::uint16_t kHasLowerCase = 256;  ///< a lower-case form other than itself

/// `code_point` is at most U+10FFFF.
CodePointProperties properties_of(char32_t code_point) noexcept;

/// One to four code points.
struct Expansion {
  std::array<char32_t, 4> code_points{};
  std::size_t count = 0;
};

/// Full canonical decomposition; the code point itself if it has none.
Expansion decompose(char32_t code_point) noexcept;

/// Lower case without regard to context (no final sigma) or language.
Expansion lower_case(char32_t code_point) noexcept;

}  // namespace crossbill::tokenizer
