// The one exception type of Crossbill. It knows nobody, so every room may include it.
#pragma once

#include <stdexcept>
#include <string>

#include "crossbill/visibility.hpp"

namespace crossbill {

/// What kind of thing went wrong; the sentence in `what()` says where and what would have been right.
enum class ErrorCode {
  invalid_argument,   ///< a call or an option makes no sense (max_length 2, top_n 0, an unknown ISA)
  input_too_long,     ///< a pair is over max_length and truncation was refused
  file_error,         ///< a file or folder can't be opened, read or written
  bad_model,          ///< a model file is damaged or contradicts itself
  unsupported_model,  ///< a model is sound, but of a kind that Crossbill doesn't run
  cancelled,          ///< the caller's stop token asked for it
  deadline_exceeded,  ///< the work was not done by the deadline
};

/// Name of a code as it stands in the documentation, for example "bad_model".
CROSSBILL_API const char* to_string(ErrorCode code) noexcept;

class CROSSBILL_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ~Error() override;
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace crossbill
