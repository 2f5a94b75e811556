#include "loader/cbm_reader.hpp"

#include <memory>
#include <string>

#include "crossbill/error.hpp"

namespace crossbill::loader {

std::shared_ptr<const Model> open_cbm(FileBytes /*file*/, const std::string& name) {
  throw Error(ErrorCode::unsupported_model, name + " is not a Hugging Face folder");
}

}  // namespace crossbill::loader
