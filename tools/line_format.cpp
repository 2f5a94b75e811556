// Tells plain lines from JSON lines, once for a whole input.
#include "tools/line_format.hpp"

#include <utility>

namespace crossbill::tools {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \r\v\f") == std::string_view::npos;
}

bool begins_json(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{';
}

std::string too_long_reason(const LineReader& lines) {
  return "the line is longer than " + std::to_string(lines.limit() >> 20) + " MiB";
}

// Blank lines before the first line that says something are only counted: they are texts if the format turns
// out to be text, and nothing if it is JSON.
void TextOrJsonLines::detect_format() {
  Line line;
  while (lines_.next(line)) {
    if (!line.too_long && is_blank(line.text)) {
      ++blank_lines_;
      continue;
    }
    held_ = std::move(line);
    break;
  }
  format_ = held_ && begins_json(held_->text) ? LineFormat::jsonl : LineFormat::text;
  if (is_json()) blank_given_ = blank_lines_;
}

bool TextOrJsonLines::next_line(Line& line) {
  if (format_ == LineFormat::automatic) detect_format();
  if (blank_given_ < blank_lines_) {
    line = Line();
    line.number = ++blank_given_;
    return true;
  }
  if (held_) {
    line = *std::exchange(held_, std::nullopt);
    return true;
  }
  return lines_.next(line);
}

bool TextOrJsonLines::next(Line& line) {
  do {
    if (!next_line(line)) return false;
  } while (is_json() && !line.too_long && is_blank(line.text));
  return true;
}

}  // namespace crossbill::tools
