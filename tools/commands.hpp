// The commands of the `crossbill` program; each lies in a file of its own.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace crossbill::tools {

/// What the command line asked for; returns the exit code.
using Action = std::function<int()>;

/// Each adds one subcommand to `app`; when the user chose it, parsing sets `action`.
void add_score_command(CLI::App& app, Action& action);
void add_rank_command(CLI::App& app, Action& action);
void add_tokenize_command(CLI::App& app, Action& action);
void add_pack_command(CLI::App& app, Action& action);
void add_unpack_command(CLI::App& app, Action& action);
void add_info_command(CLI::App& app, Action& action);

/// The text of `crossbill --version`.
std::string version_text();

}  // namespace crossbill::tools
