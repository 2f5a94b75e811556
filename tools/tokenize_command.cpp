// crossbill tokenize: texts or pairs in, their tokens out, as the model sees them.
#include <CLI/CLI.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "tools/commands.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/option_style.hpp"
#include "tools/run_notes.hpp"
#include "tools/standard_output.hpp"
#include "tools/text_reader.hpp"
#include "tools/token_stream.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kFooter =
    "Input, one text or pair a line: plain text (each line one text), or JSON,\n"
    "  {\"text\": \"Is honey acidic?\"}  or  {\"query\": \"…\", \"passage\": \"…\"}\n"
    "\n"
    "Output, one line each: the tokens, separated by spaces, [CLS] and [SEP] included. With --json\n"
    "  "
    "{\"ids\":[101,…],\"type_ids\":[0,…],\"tokens\":[\"[CLS]\",…],\"offsets\":[[0,0],…],\"truncated\":false}"
    "\n"
    "where offsets count the characters (code points) of the line's text from 0, and are [0,0] for the\n"
    "[CLS] and [SEP] that the model's template adds. With --skip-bad a bad line gives an empty line, in\n"
    "JSON null.\n"
    "\n"
    "Examples:\n"
    "  echo \"unbelievable naïveté\" | crossbill tokenize\n"
    "  crossbill tokenize --json --max-length 128 pairs.jsonl > tokens.jsonl";

const std::map<std::string, LineFormat> kFormats = {
    {"auto", LineFormat::automatic}, {"text", LineFormat::text}, {"jsonl", LineFormat::jsonl}};

struct TokenizeCommand {
  EngineOptions engine;
  TokenStreamSettings stream;
  std::string file = "-";
  std::string format = "auto";
  int threads = 0;

  int run() const;
};

void say_summary(const TokenStreamSummary& summary, std::size_t max_length) {
  say_notes({summary.lines, "line", summary.truncated, summary.bad, summary.first_bad}, max_length);
}

int TokenizeCommand::run() const {
  const Interrupt interrupt;
  TextInput input(file, interrupt.wake_fd());
  const Reranker reranker = open_reranker(engine);
  if (input.is_terminal()) say("reading texts from the terminal; Ctrl-D ends them");
  LineReader lines(input);
  TextReader texts(lines, kFormats.at(format));
  StandardOutput output;
  TokenStreamSettings settings = stream;
  settings.threads = threads > 0 ? threads : default_threads();
  TokenStream tokens(reranker, lines, texts, output, settings);
  try {
    tokens.run();
  } catch (const InputError&) {
    say_summary(tokens.summary(), reranker.info().max_length);
    throw;
  }
  say_summary(tokens.summary(), reranker.info().max_length);
  return exit_fine;
}

}  // namespace

void add_tokenize_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<TokenizeCommand>();
  command->engine.threads = 1;  // the forward pass never runs
  CLI::App& tokenize = *app.add_subcommand("tokenize", "Show the tokens of texts or pairs");
  tokenize.footer(kFooter);
  tokenize.add_option("FILE", command->file, "Texts or pairs; - is standard input")->capture_default_str();
  add_choice(tokenize, "--format", command->format, {"auto", "text", "jsonl"},
             "Of the input; auto: by its first line");
  tokenize.add_flag("--json", command->stream.json, "All that is known of the tokens, as JSON lines");
  tokenize.add_flag("--skip-bad", command->stream.skip_bad,
                    "Count bad lines instead of stopping at the first");
  add_model_option(tokenize, command->engine);
  add_encoding_options(tokenize, command->engine);
  add_threads_option(tokenize, command->threads);
  tokenize.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
