// What `crossbill tokenize` reads: texts or pairs, one a line.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "tools/line_format.hpp"
#include "tools/line_reader.hpp"

namespace crossbill::tools {

struct TextRecord {
  std::string text;                    ///< or the query of a pair
  std::optional<std::string> passage;  ///< present if the line is a pair
  std::size_t line = 0;
  std::string fault;  ///< why the line is neither; empty if it is one
};

/// Plain lines, or {"text": "…"} or {"query": "…", "passage": "…"}.
class TextReader {
 public:
  TextReader(LineReader& lines, LineFormat format) : lines_(lines, format) {}
  bool next(TextRecord& record);
  /// See LineReader::ready.
  bool ready(std::chrono::milliseconds patience) { return lines_.ready(patience); }

 private:
  TextOrJsonLines lines_;
};

}  // namespace crossbill::tools
