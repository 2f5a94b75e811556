// Tells plain lines from JSON lines, once for a whole input.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tools/line_reader.hpp"

namespace crossbill::tools {

/// Whether a line has nothing but spaces. A tab is something: it parts an empty query from an empty passage.
bool is_blank(std::string_view line);

/// Whether a line looks like a JSON object: its first character that isn't a space is "{".
bool begins_json(std::string_view line);

/// Why a line over the reader's limit is refused.
std::string too_long_reason(const LineReader& lines);

enum class LineFormat {
  automatic,  ///< by the first line that isn't blank: JSON if it begins with "{", else text
  text,       ///< every line counts, blank ones too
  jsonl,      ///< blank lines are passed over
};

/// Lines of an input that is either plain text or JSON lines.
class TextOrJsonLines {
 public:
  TextOrJsonLines(LineReader& lines, LineFormat format) : lines_(lines), format_(format) {}

  /// The next line that counts; false at the end.
  bool next(Line& line);
  /// Whether lines are JSON; known once next() has been called.
  bool is_json() const { return format_ == LineFormat::jsonl; }
  /// See LineReader::ready.
  bool ready(std::chrono::milliseconds patience) {
    return held_ || blank_given_ < blank_lines_ || lines_.ready(patience);
  }
  const LineReader& reader() const { return lines_; }

 private:
  void detect_format();
  bool next_line(Line& line);

  LineReader& lines_;
  LineFormat format_;
  std::size_t blank_lines_ = 0;  // read while the format wasn't known
  std::size_t blank_given_ = 0;  // of them, handed out
  std::optional<Line> held_;     // the line that told the format
};

}  // namespace crossbill::tools
