// What `crossbill rank` reads: passages for one query, or requests that bring query and passages together.
#include "tools/ranking_input.hpp"

#include <utility>

#include "tools/failures.hpp"

namespace crossbill::tools {

Candidate candidate_from_json(Json value, bool needs_first_stage) {
  Candidate candidate;
  if (value.is_string()) {
    candidate.text = value.get<std::string>();
  } else if (value.is_object()) {
    if (value.contains("text")) {
      candidate.text = string_field(value, "text");
    } else if (value.contains("passage")) {
      candidate.text = string_field(value, "passage");
    } else if (value.contains("passages")) {
      throw BadLine("a request (\"passages\") where a passage was expected; leave out --query for requests");
    } else {
      throw BadLine("no \"text\" or \"passage\" field; found " + field_names(value));
    }
    const auto score = value.find("score");
    if (score != value.end() && score->is_number()) candidate.first_stage = score->get<double>();
    candidate.fields = std::move(value);
  } else {
    throw BadLine("a string or an object was expected, found " + std::string(kind_of(value)));
  }
  if (needs_first_stage && !candidate.first_stage) {
    throw BadLine("no first-stage \"score\" that is a number, which --fusion needs");
  }
  return candidate;
}

bool PassageReader::next(PassageRecord& record) {
  Line line;
  if (!lines_.next(line)) return false;
  record = PassageRecord();
  record.line = line.number;
  try {
    if (line.too_long) throw BadLine(too_long_reason(lines_.reader()));
    Json value = lines_.is_json() ? parse_json_object(line.text) : Json(std::move(line.text));
    record.candidate = candidate_from_json(std::move(value), needs_first_stage_);
  } catch (const BadLine& fault) {
    record.fault = fault.what();
  }
  return true;
}

void RequestReader::read_request(const std::string& text, RankRequest& request) const {
  if (!begins_json(text)) {
    throw BadLine(
        "a request such as {\"query\": \"…\", \"passages\": [\"…\"]} was expected; for plain passages "
        "give the query with --query");
  }
  Json object = parse_json_object(text);
  request.query = string_field(object, "query");
  const auto passages = object.find("passages");
  if (passages == object.end()) {
    throw BadLine("no \"passages\" field; found " + field_names(object) +
                  " (or give the query with --query)");
  }
  if (!passages->is_array()) {
    throw BadLine("\"passages\" must be an array, found " + std::string(kind_of(*passages)));
  }
  for (Json& passage : *passages) {
    try {
      request.candidates.push_back(candidate_from_json(std::move(passage), needs_first_stage_));
    } catch (const BadLine& fault) {
      throw BadLine("passages[" + std::to_string(request.candidates.size()) + "]: " + fault.what());
    }
  }
  object.erase("passages");
  request.fields = std::move(object);
}

bool RequestReader::next(RankRequest& request) {
  Line line;
  do {
    if (!lines_.next(line)) return false;
  } while (!line.too_long && is_blank(line.text));
  request = RankRequest();
  request.line = line.number;
  try {
    if (line.too_long) throw BadLine(too_long_reason(lines_));
    read_request(line.text, request);
  } catch (const BadLine& fault) {
    request.fault = fault.what();
  }
  return true;
}

}  // namespace crossbill::tools
