// What `crossbill rank` reads: passages for one query, or requests that bring query and passages together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/json_line.hpp"
#include "tools/line_format.hpp"
#include "tools/line_reader.hpp"

namespace crossbill::tools {

/// A passage that waits for its score.
struct Candidate {
  std::string text;
  std::optional<double> first_stage;  ///< the input's "score", if that is a number
  Json fields;                        ///< the whole input object; null for a plain string or line
};

/// A candidate from a JSON string, or an object whose text is in "text" or else "passage". BadLine if it is
/// neither, or if `needs_first_stage` and there is no numeric "score".
Candidate candidate_from_json(Json value, bool needs_first_stage);

struct PassageRecord {
  Candidate candidate;
  std::size_t line = 0;
  std::string fault;  ///< why the line is no passage; empty if it is one
};

/// Passages, one a line: plain text, or {"text": "…"} or {"passage": "…"}.
class PassageReader {
 public:
  PassageReader(LineReader& lines, LineFormat format, bool needs_first_stage)
      : lines_(lines, format), needs_first_stage_(needs_first_stage) {}
  bool next(PassageRecord& record);

 private:
  TextOrJsonLines lines_;
  bool needs_first_stage_;
};

struct RankRequest {
  std::string query;
  std::vector<Candidate> candidates;
  Json fields;  ///< of the request, "passages" left out
  std::size_t line = 0;
  std::string fault;
};

/// {"query": "…", "passages": [string or object, …]} a line; blank lines are passed over.
class RequestReader {
 public:
  RequestReader(LineReader& lines, bool needs_first_stage)
      : lines_(lines), needs_first_stage_(needs_first_stage) {}
  bool next(RankRequest& request);

 private:
  void read_request(const std::string& text, RankRequest& request) const;

  LineReader& lines_;
  bool needs_first_stage_;
};

}  // namespace crossbill::tools
