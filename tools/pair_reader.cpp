// Reads (query, passage) pairs, one a line, as JSON or tab-separated text.
#include "tools/pair_reader.hpp"

#include <algorithm>

#include "tools/failures.hpp"
#include "tools/json_line.hpp"
#include "tools/line_format.hpp"
#include "tools/number_format.hpp"

namespace crossbill::tools {
namespace {

void read_tsv_pair(const std::string& text, PairRecord& record) {
  const std::size_t tab = text.find('\t');
  const auto columns = 1 + std::count(text.begin(), text.end(), '\t');
  if (columns != 2) {
    throw BadLine("expected query TAB passage, found " +
                  counted(static_cast<std::size_t>(columns), "column"));
  }
  record.query = text.substr(0, tab);
  record.passage = text.substr(tab + 1);
}

void read_json_pair(const std::string& text, PairRecord& record) {
  const Json object = parse_json_object(text);
  record.query = string_field(object, "query");
  record.passage = string_field(object, "passage");
}

}  // namespace

void PairReader::read_pair(const std::string& text, PairRecord& record) {
  const bool first = format_ == PairFormat::automatic;
  if (first) format_ = begins_json(text) ? PairFormat::jsonl : PairFormat::tsv;
  try {
    format_ == PairFormat::jsonl ? read_json_pair(text, record) : read_tsv_pair(text, record);
  } catch (const BadLine& fault) {
    record.fault = fault.what();
    if (first && format_ == PairFormat::tsv) {
      record.fault += " (or JSON such as {\"query\": \"…\", \"passage\": \"…\"})";
    }
  }
}

bool PairReader::next(PairRecord& record) {
  Line line;
  do {
    if (!lines_.next(line)) return false;
  } while (!line.too_long && is_blank(line.text));
  record = PairRecord();
  record.line = line.number;
  if (line.too_long) {
    record.fault = too_long_reason(lines_);
  } else {
    read_pair(line.text, record);
  }
  return true;
}

}  // namespace crossbill::tools
