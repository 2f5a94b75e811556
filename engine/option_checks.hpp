// Options as the caller wrote them → what is in force. Each throws Error invalid_argument that says what
// would be right.
#pragma once

#include <cstddef>
#include <string>

#include "crossbill/crossbill.hpp"
#include "kernels/kernel_set.hpp"
#include "loader/model.hpp"

namespace crossbill::engine {

/// The set named by `isa`, else by the environment variable CROSSBILL_ISA, else the best one.
const kernels::KernelSet& chosen_kernel_set(const std::string& isa);

/// 0: default_threads().
int chosen_threads(int threads);

/// 0: the tokenizer's model_max_length, but no more than the model has positions. Error bad_model if that is
/// less than 3.
std::size_t chosen_max_length(std::size_t max_length, const loader::Model& model);

/// Number of the label that a ranking goes by; `name` may be empty if the model has one label only.
std::size_t chosen_label(const std::string& name, const ModelInfo& info);

}  // namespace crossbill::engine
