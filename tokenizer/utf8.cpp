#include "tokenizer/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace crossbill::tokenizer {
namespace {

/// What may follow a lead byte: how many bytes in all, and the range of the first continuation byte, which is
/// narrower than 80..BF after E0, ED, F0 and F4 (no overlong forms, no surrogates, nothing above U+10FFFF).
struct Sequence {
  std::size_t bytes;
  std::uint8_t second_least;
  std::uint8_t second_most;
};

Sequence sequence_of(std::uint8_t lead) noexcept {
  if (lead < 0xC2 || lead > 0xF4) {
    return {1, 0, 0};  // a continuation byte, or a lead that no valid sequence has
  }
  if (lead < 0xE0) {
    return {2, 0x80, 0xBF};
  }
  if (lead < 0xF0) {
    return {3, static_cast<std::uint8_t>(lead == 0xE0 ? 0xA0 : 0x80),
            static_cast<std::uint8_t>(lead == 0xED ? 0x9F : 0xBF)};
  }
  return {4, static_cast<std::uint8_t>(lead == 0xF0 ? 0x90 : 0x80),
          static_cast<std::uint8_t>(lead == 0xF4 ? 0x8F : 0xBF)};
}

}  // namespace

DecodedCodePoint decode_code_point(std::string_view text, std::size_t position) noexcept {
  const auto lead = static_cast<std::uint8_t>(text[position]);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const Sequence sequence = sequence_of(lead);
  if (sequence.bytes == 1) {
    return {kReplacementCharacter, 1};
  }
  // The lead keeps 5, 4 or 3 bits; each continuation byte adds six.
  char32_t value = lead & (0xFFU >> (sequence.bytes + 1));
  for (std::size_t i = 1; i < sequence.bytes; ++i) {
    if (position + i >= text.size()) {
      return {kReplacementCharacter, i};
    }
    const auto byte = static_cast<std::uint8_t>(text[position + i]);
    const std::uint8_t least = i == 1 ? sequence.second_least : 0x80;
    const std::uint8_t most = i == 1 ? sequence.second_most : 0xBF;
    if (byte < least || byte > most) {
      return {kReplacementCharacter, i};
    }
    value = (value << 6) | (byte & 0x3FU);
  }
  return {value, sequence.bytes};
}

DecodedCodePoint decode_code_point_before(std::string_view text, std::size_t position) noexcept {
  // A lead byte always begins a step of forward decoding, so a valid sequence that ends here is that step;
  // failing that, the step before was an invalid one.
  for (std::size_t bytes = 1; bytes <= 4 && bytes <= position; ++bytes) {
    const DecodedCodePoint decoded = decode_code_point(text.substr(0, position), position - bytes);
    const auto lead = static_cast<std::uint8_t>(text[position - bytes]);
    if ((lead & 0xC0) != 0x80) {
      return decoded.bytes == bytes ? decoded : DecodedCodePoint{kReplacementCharacter, 1};
    }
  }
  return {kReplacementCharacter, 1};
}

std::size_t encode_code_point(char32_t value, char* out) noexcept {
  if (value < 0x80) {
    out[0] = static_cast<char>(value);
    return 1;
  }
  if (value < 0x800) {
    out[0] = static_cast<char>(0xC0 | (value >> 6));
    out[1] = static_cast<char>(0x80 | (value & 0x3F));
    return 2;
  }
  if (value < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (value >> 12));
    out[1] = static_cast<char>(0x80 | ((value >> 6) & 0x3F));
    out[2] = static_cast<char>(0x80 | (value & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (value >> 18));
  out[1] = static_cast<char>(0x80 | ((value >> 12) & 0x3F));
  out[2] = static_cast<char>(0x80 | ((value >> 6) & 0x3F));
  out[3] = static_cast<char>(0x80 | (value & 0x3F));
  return 4;
}

std::size_t count_code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); ++count) {
    position += decode_code_point(text, position).bytes;
  }
  return count;
}

std::string replace_invalid(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const DecodedCodePoint decoded = decode_code_point(text, position);
    char bytes[4];
    valid.append(bytes, encode_code_point(decoded.value, bytes));
    position += decoded.bytes;
  }
  return valid;
}

bool is_valid_utf8(std::string_view text) noexcept {
  constexpr std::uint64_t kBeyondAscii = 0x8080808080808080;
  for (std::size_t position = 0; position < text.size();) {
    std::uint64_t eight = kBeyondAscii;
    if (text.size() - position >= sizeof eight) {
      std::memcpy(&eight, text.data() + position, sizeof eight);
    }
    if ((eight & kBeyondAscii) == 0) {
      position += sizeof eight;
      continue;
    }
    const DecodedCodePoint decoded = decode_code_point(text, position);
    if (decoded.value == kReplacementCharacter && text.substr(position, decoded.bytes) != "\xEF\xBF\xBD") {
      return false;
    }
    position += decoded.bytes;
  }
  return true;
}

}  // namespace crossbill::tokenizer
