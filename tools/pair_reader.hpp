// Reads (query, passage) pairs, one a line, as JSON or tab-separated text.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tools/line_reader.hpp"

namespace crossbill::tools {

enum class PairFormat {
  automatic,  ///< by the first line that isn't blank: JSON if it begins with "{", else tab-separated
  jsonl,      ///< {"query": "…", "passage": "…"}, further fields are passed over
  tsv,        ///< query TAB passage
};

struct PairRecord {
  std::string query;
  std::string passage;
  std::size_t line = 0;  ///< number in the file, from 1
  std::string fault;     ///< why the line is no pair; empty if it is one
};

/// Blank lines are passed over; every other line becomes one record, faulty or not.
class PairReader {
 public:
  PairReader(LineReader& lines, PairFormat format) : lines_(lines), format_(format) {}

  /// The next record; false at the end.
  bool next(PairRecord& record);
  /// See LineReader::ready.
  bool ready(std::chrono::milliseconds patience) { return lines_.ready(patience); }
  const LineReader& lines() const { return lines_; }

 private:
  void read_pair(const std::string& text, PairRecord& record);

  LineReader& lines_;
  PairFormat format_;
};

}  // namespace crossbill::tools
