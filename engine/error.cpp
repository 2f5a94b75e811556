#include "crossbill/error.hpp"

namespace crossbill {

Error::~Error() = default;  // anchors the vtable, so that the type is one across shared libraries

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::input_too_long:
      return "input_too_long";
    case ErrorCode::file_error:
      return "file_error";
    case ErrorCode::bad_model:
      return "bad_model";
    case ErrorCode::unsupported_model:
      return "unsupported_model";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
  }
  return "unknown";
}

}  // namespace crossbill
