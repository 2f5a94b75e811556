// How options with a fixed set of values are declared, and how --help shows options.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace crossbill::tools {

/// An option that takes one of `choices`; `value` holds the default.
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                        const std::vector<std::string>& choices, const std::string& description);

/// Names and values to the left, sentences to the right, the default at the sentence's end.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(30); }

 protected:
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace crossbill::tools
