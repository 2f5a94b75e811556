// The model of commands that make files of one: said in front of what is written, or by --model.
#include "tools/model_argument.hpp"

#include <CLI/CLI.hpp>

namespace crossbill::tools {

void add_model_argument(CLI::App& command, ModelArgument& argument, const std::string& target_name,
                        const std::string& target_description) {
  CLI::Option* first = command
                           .add_option("MODEL", argument.model,
                                       "A bundled model's name, a .cbm file or a Hugging Face\nfolder")
                           ->required();
  CLI::Option* second = command.add_option(target_name, argument.target, target_description)->required();
  // Runs once the positionals are filled, which were declared before it, and before CLI11 looks whether what
  // is required is there. With --model the only positional is the target, though it stands in MODEL's place.
  const auto model_is_an_option = [&argument, first, second](const std::string& model) {
    if (second->count() > 0) throw CLI::ValidationError("MODEL", "--model names one already");
    (first->count() > 0 ? second : first)->required(false);
    argument.target = argument.model;
    argument.model = model;
  };
  command.add_option_function<std::string>("--model,-m", model_is_an_option, "Another way to say MODEL")
      ->type_name("NAME|PATH");
}

}  // namespace crossbill::tools
