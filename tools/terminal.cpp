// What the terminal is like, and text made fit to be shown on it.
#include "tools/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace crossbill::tools {
namespace {

struct Range {
  std::uint32_t first, last;
};

// The blocks that matter in running text; a character out of place costs a ragged edge, no more.
constexpr Range kZeroWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                                {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
                                {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064},
                                {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},  {0x3400, 0x4DBF},
                           {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                           {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

template <std::size_t N>
bool is_in(const Range (&ranges)[N], std::uint32_t character) {
  return std::any_of(std::begin(ranges), std::end(ranges), [character](const Range& range) {
    return range.first <= character && character <= range.last;
  });
}

std::size_t width_of(std::uint32_t character) {
  if (is_in(kZeroWidth, character)) return 0;
  return is_in(kWide, character) ? 2 : 1;
}

constexpr std::uint32_t kInvalid = 0xFFFFFFFF;

// Takes one character off the front of `text`; kInvalid (and one byte) where that is no UTF-8.
std::uint32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 1;
  std::uint32_t character = lead;
  if (lead >= 0x80) {
    length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) length = 0;
    character = length == 0 ? 0 : lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0) != 0x80) {
        length = 0;
        break;
      }
      character = character << 6 | (byte(i) & 0x3Fu);
    }
    const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (length == 0 || overlong || surrogate || character > 0x10FFFF) {
      text.remove_prefix(1);
      return kInvalid;
    }
  }
  text.remove_prefix(length);
  return character;
}

// C0, DEL, C1, and the bidirectional overrides that could make a line read as something else.
bool is_control(std::uint32_t character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0) || character == 0x2028 ||
         character == 0x2029 || (character >= 0x202A && character <= 0x202E) ||
         (character >= 0x2066 && character <= 0x2069);
}

}  // namespace

bool output_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}
bool errors_are_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

std::size_t terminal_width(int fd) {
  constexpr std::size_t kFallback = 100;
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  std::size_t width = 0;
  if (columns != nullptr) std::from_chars(columns, columns + std::strlen(columns), width);
  return width >= 20 && width <= 1000 ? width : kFallback;
}

bool wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::strcmp(term, "dumb") == 0;
  return output_is_terminal() && (no_color == nullptr || *no_color == '\0') && !dumb;
}

bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower(value);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

std::string one_line(std::string_view text) {
  std::string line;
  bool space_due = false;
  while (!text.empty()) {
    const std::string_view before = text;
    const std::uint32_t character = take_character(text);
    if (character != kInvalid && (character == ' ' || is_control(character))) {
      space_due = !line.empty();
      continue;
    }
    if (space_due) line += ' ';
    space_due = false;
    line += character == kInvalid ? std::string_view("\xEF\xBF\xBD")
                                  : before.substr(0, before.size() - text.size());
  }
  return line;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) width += width_of(take_character(text));
  return width;
}

std::string clipped(std::string_view text, std::size_t columns, bool utf8) {
  if (display_width(text) <= columns) return std::string(text);
  const std::string_view ellipsis = utf8 ? "…" : "...";
  const std::size_t ellipsis_width = utf8 ? 1 : 3;
  std::size_t width = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view after = rest;
    width += width_of(take_character(after));
    if (width + ellipsis_width > columns) break;
    rest = after;
  }
  std::string beginning(text.substr(0, text.size() - rest.size()));
  while (beginning.ends_with(' ')) beginning.pop_back();
  return beginning.append(ellipsis.substr(0, columns == 0 ? 0 : ellipsis.size()));
}

}  // namespace crossbill::tools
