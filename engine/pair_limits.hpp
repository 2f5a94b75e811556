// What an encoded pair must keep to, so that the forward passes need not check anything.
#pragma once

#include <cstddef>
#include <string_view>

#include "crossbill/encoding.hpp"
#include "crossbill/error.hpp"

namespace crossbill::engine {

struct PairLimits {
  std::size_t vocabulary = 0;   ///< ids are below it
  std::size_t positions = 0;    ///< most tokens of a pair
  std::size_t token_types = 0;  ///< type ids are below it

  /// Error invalid_argument that says what is wrong with the pair.
  void check(const EncodedPair& pair) const;
};

/// The same error with the pair it is about in front: "pair 17: …". `noun` is what the caller gave.
Error error_at(std::string_view noun, std::size_t index, const Error& error);

}  // namespace crossbill::engine
