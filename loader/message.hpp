// Pieces of error sentences. Names that come out of a file may be hostile, so they stand in quotes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tokenizer/message.hpp"

namespace crossbill::loader {

using tokenizer::in_quotes;

/// A shape as people write it, for example "[384, 1536]"; "[]" for a scalar.
std::string shape_text(std::span<const std::uint64_t> shape);

}  // namespace crossbill::loader
