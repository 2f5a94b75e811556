// UTF-8, read as Python's bytes.decode("utf-8", errors="replace") reads it.
//
// An invalid sequence becomes U+FFFD: one for each maximal subpart, that is for the longest start of a valid
// sequence, or for a single byte that can't start one. "E2 82 41" is U+FFFD 'A'; "ED A0 80" (a surrogate) is
// three U+FFFD; "F0 9F 98" at the end of a text is one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace crossbill::tokenizer {

constexpr char32_t kReplacementCharacter = 0xFFFD;

struct DecodedCodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< at least 1
};

/// The code point that begins at text[position]; position < text.size(). Text that is read from its beginning
/// by these steps never has a step begin inside a valid sequence.
DecodedCodePoint decode_code_point(std::string_view text, std::size_t position) noexcept;

/// The code point that ends right before text[position]; position > 0 and a boundary of forward decoding.
DecodedCodePoint decode_code_point_before(std::string_view text, std::size_t position) noexcept;

/// Writes 1 to 4 bytes to `out`, which has room for four; returns how many.
std::size_t encode_code_point(char32_t value, char* out) noexcept;

/// How many code points `text` is read as.
std::size_t count_code_points(std::string_view text) noexcept;

/// `text` with every invalid sequence replaced, so that the result is valid UTF-8.
std::string replace_invalid(std::string_view text);

/// Whether `text` holds no invalid sequence.
bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace crossbill::tokenizer
