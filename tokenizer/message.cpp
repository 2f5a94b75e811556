#include "tokenizer/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace crossbill::tokenizer {
namespace {

constexpr std::size_t kLongest = 160;

/// The first bytes of a text, without a character that would be cut in two.
std::string_view beginning(std::string_view text) {
  std::size_t size = kLongest;
  while (size > kLongest - 4 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    --size;
  }
  return text.substr(0, size);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  const bool cut = text.size() > kLongest;
  std::string out = "\"";
  for (const char c : cut ? beginning(text) : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (cut ? "…\"" : "\"");
}

}  // namespace crossbill::tokenizer
