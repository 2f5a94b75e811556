// What must agree between the parts of a model, whichever kind of file they came from.
#pragma once

#include <span>
#include <string>

#include "loader/model.hpp"

namespace crossbill::loader {

/// Every id that the tokenizer can give has a word embedding. Error bad_model beginning with model.name.
void check_tokenizer_fits(const Model& model);

/// Error bad_model, "where: tensor has a value that is not finite at index i".
void check_finite(std::span<const float> values, const std::string& where);

}  // namespace crossbill::loader
