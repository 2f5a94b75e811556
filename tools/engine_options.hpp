// The command line options that several commands share, and the model opened by them.
#pragma once

#include <cstddef>
#include <string>

#include "crossbill/crossbill.hpp"
#include "tools/model_choice.hpp"

namespace CLI {
class App;
}

namespace crossbill::tools {

/// As typed; see add_… for the values allowed.
struct EngineOptions {
  std::string model = kDefaultModel;
  int threads = 0;
  std::string isa;
  std::string precision = "auto";
  std::string activation = "model";
  std::size_t max_length = 0;
  std::string truncate = "longest";
  std::string truncation_side = "right";
  bool special_tokens_as_text = false;
};

/// --model
void add_model_option(CLI::App& command, EngineOptions& options);
/// --threads; 0 means default_threads()
void add_threads_option(CLI::App& command, int& threads);
/// --threads, --isa, --precision
void add_computing_options(CLI::App& command, EngineOptions& options);
/// --activation
void add_activation_option(CLI::App& command, EngineOptions& options);
/// --max-length, --truncate, --truncation-side, --special-tokens-as-text
void add_encoding_options(CLI::App& command, EngineOptions& options);

/// Opens the model. UsageError if the library finds an option senseless (an instruction set this machine
/// lacks, a max_length over the model's); else what Reranker throws.
Reranker open_reranker(const EngineOptions& options);

/// The last part of a model's path without ".cbm", to name it in output.
std::string short_model_name(const std::string& path);

}  // namespace crossbill::tools
