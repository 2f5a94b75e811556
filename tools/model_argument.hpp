// The model of commands that make files of one: said in front of what is written, or by --model.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace crossbill::tools {

/// `command MODEL TARGET` and `command --model MODEL TARGET` mean the same.
struct ModelArgument {
  std::string model;   ///< a bundled model's name or a path
  std::string target;  ///< what to write
};

/// Adds MODEL, a positional called `target_name`, and --model. A command line that names no model, two models
/// or no target is wrong usage.
void add_model_argument(CLI::App& command, ModelArgument& argument, const std::string& target_name,
                        const std::string& target_description);

}  // namespace crossbill::tools
