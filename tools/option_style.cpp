// How options with a fixed set of values are declared, and how --help shows options.
#include "tools/option_style.hpp"

namespace crossbill::tools {

CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description) {
  return command.add_option(name, value, description)
      ->type_name(CLI::detail::join(choices, "|"))
      ->check(CLI::IsMember(choices).description(""))
      ->capture_default_str();
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const bool takes_value = option->get_type_size() != 0 && !option->get_positional();
  return takes_value && !option->get_type_name().empty() ? " " + option->get_type_name() : "";
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
  if (!option->get_envname().empty()) text += "\nor the variable " + option->get_envname();
  return text;
}

}  // namespace crossbill::tools
