// Pieces of error sentences. Names that come out of a file may be hostile, so they are quoted here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace crossbill::loader {

/// "text" in double quotes; bytes that don't print stand as \xHH and a long text is cut, so that a file can't
/// write control sequences or megabytes into a log.
std::string in_quotes(std::string_view text);

/// A shape as people write it, for example "[384, 1536]"; "[]" for a scalar.
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace crossbill::loader
