#include "tools/run_notes.hpp"

#include <cstddef>
#include <string>

#include "tools/number_format.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {

void say_notes(const RunNotes& notes, std::size_t max_length) {
  if (notes.truncated > 0) {
    say("note: " + grouped(notes.truncated) + " of " + counted(notes.items, notes.singular) + " " +
        was_or_were(notes.truncated) + " cut to " + std::to_string(max_length) + " tokens");
  }
  if (notes.bad > 0) {
    say("note: " + grouped(notes.bad) + " of " + counted(notes.items + notes.bad, "line") + " " +
        was_or_were(notes.bad) + " bad and skipped; the first: " + notes.first_bad);
  }
}

}  // namespace crossbill::tools
