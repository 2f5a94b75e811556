#include "engine/pair_limits.hpp"

#include <cstdint>
#include <string>

namespace crossbill::engine {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, sentence);
}

}  // namespace

void PairLimits::check(const EncodedPair& pair) const {
  const std::size_t tokens = pair.ids.size();
  if (tokens == 0) refuse("it has no tokens; at least [CLS] is needed");
  if (pair.type_ids.size() != tokens) {
    refuse("it has " + std::to_string(tokens) + " ids and " + std::to_string(pair.type_ids.size()) +
           " type ids; there must be as many of the one as of the other");
  }
  if (tokens > positions) {
    refuse("it has " + std::to_string(tokens) + " tokens; the model has positions for " +
           std::to_string(positions));
  }
  for (std::size_t t = 0; t < tokens; ++t) {
    if (pair.ids[t] < 0 || static_cast<std::size_t>(pair.ids[t]) >= vocabulary) {
      refuse("token " + std::to_string(t) + " has the id " + std::to_string(pair.ids[t]) +
             "; the model's vocabulary has ids from 0 to " + std::to_string(vocabulary - 1));
    }
    if (pair.type_ids[t] >= token_types) {
      refuse("token " + std::to_string(t) + " has the type id " + std::to_string(pair.type_ids[t]) +
             "; the model has " + std::to_string(token_types) + " token types");
    }
  }
}

Error error_at(std::string_view noun, std::size_t index, const Error& error) {
  return Error(error.code(), std::string(noun) + " " + std::to_string(index) + ": " + error.what());
}

}  // namespace crossbill::engine
