// How text that comes out of a file stands in an error sentence.
#pragma once

#include <string>
#include <string_view>

namespace crossbill::tokenizer {

/// "text" in double quotes; bytes that don't print stand as \xHH and a long text is cut between characters,
/// so that a file can't write control sequences or megabytes into a log.
std::string in_quotes(std::string_view text);

}  // namespace crossbill::tokenizer
