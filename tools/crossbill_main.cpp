// The `crossbill` program: finds the command, runs it, and turns what goes wrong into a sentence and an exit
// code.
#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "crossbill/error.hpp"
#include "engine/thread_count.hpp"
#include "tools/commands.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/option_style.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kIntroduction =
    "Scores (query, passage) pairs with BERT cross-encoders on the CPU.\n"
    "How well does a passage answer a query? The higher the score, the better.";

constexpr const char* kOverviewFooter =
    "Examples:\n"
    "  crossbill rank --query \"why is the sky blue\" passages.txt\n"
    "  crossbill score pairs.jsonl > scores.txt\n"
    "  crossbill rank --help\n"
    "\n"
    "Environment: CROSSBILL_MODEL (the default of --model, but for pack and unpack),\n"
    "CROSSBILL_MODELS_DIR (where names are looked for), CROSSBILL_ISA (kernel set),\n"
    "CROSSBILL_THREADS (what --threads 0 means), NO_COLOR.\n"
    "Exit codes: 0 fine, 1 bad data or failure at run time, 2 wrong usage, 130 interrupted.";

// If the parent closed one of the first three descriptors, the next file we open would get its number, and
// our messages would end up in it.
void ensure_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    if (open("/dev/null", O_RDONLY) < 0) return;  // writing to it fails, as writing to nothing should
  }
}

// The library passes over a value that makes no sense; a person should hear of it.
void say_ignored_threads() {
  const char* threads = std::getenv("CROSSBILL_THREADS");
  if (threads == nullptr || *threads == '\0' || engine::parse_thread_count(threads)) return;
  say("warning: CROSSBILL_THREADS is \"" + std::string(threads) +
      "\", no number from 1 to 1024, and is ignored");
}

int fail(const std::string& sentence, int code) {
  say("error: " + sentence);
  return code;
}

int interrupted() {
  say("interrupted");
  return 128 + (Interrupt::signal_number() != 0 ? Interrupt::signal_number() : SIGINT);
}

int run(const Action& action) {
  try {
    return action();
  } catch (const OutputClosed&) {
    return exit_fine;
  } catch (const Interrupted&) {
    return interrupted();
  } catch (const UsageError& fault) {
    return fail(fault.what(), exit_usage);
  } catch (const Error& fault) {
    return fault.code() == ErrorCode::cancelled ? interrupted() : fail(fault.what(), exit_failure);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", exit_failure);
  } catch (const std::exception& fault) {
    return fail(fault.what(), exit_failure);
  }
}

// CLI11 would print help and versions itself, through a stream whose failures nobody sees.
int print_and_end(const std::string& text) {
  return run([&] {
    StandardOutput output;
    output.line(text);
    output.flush();
    return exit_fine;
  });
}

int parse_and_run(int argc, char** argv) {
  CLI::App app(kIntroduction, "crossbill");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kOverviewFooter);
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  Action action;
  for (const auto add : {add_score_command, add_rank_command, add_tokenize_command, add_pack_command,
                         add_unpack_command, add_info_command}) {
    add(app, action);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::string text = app.help();  // of the subcommand, if there is one
    while (text.ends_with('\n')) text.pop_back();
    return print_and_end(text);
  } catch (const CLI::CallForVersion& version) {
    return print_and_end(version.what());
  } catch (const CLI::ParseError& fault) {
    const auto chosen = app.get_subcommands();
    if (chosen.empty() && argc > 1 && argv[1][0] != '-') {
      std::string names;
      for (const CLI::App* command : app.get_subcommands(nullptr))
        names += (names.empty() ? "" : ", ") + command->get_name();
      return fail(
          "unknown command \"" + std::string(argv[1]) + "\"; commands: " + names + "\nTry crossbill --help",
          exit_usage);
    }
    const std::string name = chosen.empty() ? "crossbill" : "crossbill " + chosen.front()->get_name();
    return fail(std::string(fault.what()) + "\nTry " + name + " --help", exit_usage);
  }
  say_ignored_threads();
  return run(action);
}

}  // namespace
}  // namespace crossbill::tools

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a reader who leaves shows as EPIPE, see StandardOutput
  crossbill::tools::ensure_standard_streams();
  return crossbill::tools::parse_and_run(argc, argv);
}
