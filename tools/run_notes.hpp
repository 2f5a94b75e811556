// What a person should hear on stderr when a run over many lines ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace crossbill::tools {

/// Counts of one run; `items` are what was done ("pair", "line"), bad lines not among them.
struct RunNotes {
  std::uint64_t items = 0;
  std::string singular;
  std::uint64_t truncated = 0;
  std::uint64_t bad = 0;
  std::string first_bad;  ///< the first bad line's place and why
};

/// Says how many items were cut to `max_length` tokens and how many lines were skipped; nothing if none were.
void say_notes(const RunNotes& notes, std::size_t max_length);

}  // namespace crossbill::tools
