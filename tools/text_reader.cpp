// What `crossbill tokenize` reads: texts or pairs, one a line.
#include "tools/text_reader.hpp"

#include <utility>

#include "tools/failures.hpp"
#include "tools/json_line.hpp"

namespace crossbill::tools {
namespace {

void read_json(const std::string& line, TextRecord& record) {
  const Json object = parse_json_object(line);
  if (object.contains("text")) {
    record.text = string_field(object, "text");
  } else if (object.contains("query") && object.contains("passage")) {
    record.text = string_field(object, "query");
    record.passage = string_field(object, "passage");
  } else {
    throw BadLine("neither \"text\" nor \"query\" and \"passage\"; found " + field_names(object));
  }
}

}  // namespace

bool TextReader::next(TextRecord& record) {
  Line line;
  if (!lines_.next(line)) return false;
  record = TextRecord();
  record.line = line.number;
  try {
    if (line.too_long) throw BadLine(too_long_reason(lines_.reader()));
    if (lines_.is_json()) {
      read_json(line.text, record);
    } else {
      record.text = std::move(line.text);
    }
  } catch (const BadLine& fault) {
    record.fault = fault.what();
  }
  return true;
}

}  // namespace crossbill::tools
