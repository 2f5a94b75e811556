// crossbill score: pairs in, one score a line out.
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <string>

#include "tools/commands.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/option_style.hpp"
#include "tools/run_notes.hpp"
#include "tools/score_stream.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kFooter =
    "Input, one pair a line (blank lines are passed over):\n"
    "  {\"query\": \"capital of france\", \"passage\": \"Paris is the capital of France.\"}\n"
    "or, tab-separated: capital of france<TAB>Paris is the capital of France.\n"
    "Gzip'd input is recognised.\n"
    "\n"
    "Output, in input order: one score a line (several labels: separated by tabs). With --json\n"
    "  {\"score\":9.71,\"logit\":9.71,\"tokens\":13,\"truncated\":false}\n"
    "and for several labels the arrays \"scores\", \"logits\" and \"labels\". A score that is no\n"
    "finite number is nan, in JSON null with \"not_finite\":true. With --skip-bad a bad line\n"
    "gives an empty line, in JSON null, so that line n of the output belongs to pair n.\n"
    "\n"
    "Examples:\n"
    "  crossbill score pairs.jsonl > scores.txt\n"
    "  zcat pairs.tsv.gz | crossbill score --json --activation sigmoid\n"
    "  paste <(crossbill score pairs.tsv) pairs.tsv | sort -gr | head";

struct ScoreCommand {
  EngineOptions engine;
  ScoreStreamSettings stream;
  std::string file = "-";
  std::string format = "auto";

  int run() const;
};

const std::map<std::string, PairFormat> kFormats = {
    {"auto", PairFormat::automatic}, {"jsonl", PairFormat::jsonl}, {"tsv", PairFormat::tsv}};

void say_summary(const ScoreStreamSummary& summary, std::size_t max_length) {
  say_notes({summary.pairs, "pair", summary.truncated, summary.bad, summary.first_bad}, max_length);
}

int ScoreCommand::run() const {
  const Interrupt interrupt;
  TextInput input(file, interrupt.wake_fd());
  const Reranker reranker = open_reranker(engine);
  if (input.is_terminal()) say("reading pairs from the terminal; Ctrl-D ends them");
  LineReader lines(input);
  PairReader pairs(lines, kFormats.at(format));
  StandardOutput output;
  ScoreStream scores(reranker, pairs, output, stream, interrupt.token());
  try {
    scores.run();
  } catch (const InputError&) {
    say_summary(scores.summary(), reranker.info().max_length);
    throw;
  }
  const ScoreStreamSummary& summary = scores.summary();
  if (summary.pairs + summary.bad == 0) say("note: " + input.name() + " holds no pairs");
  say_summary(summary, reranker.info().max_length);
  return exit_fine;
}

}  // namespace

void add_score_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<ScoreCommand>();
  CLI::App& score = *app.add_subcommand("score", "Score (query, passage) pairs, one a line");
  score.footer(kFooter);
  score.add_option("FILE", command->file, "Pairs as JSON lines or TSV; - is standard input")
      ->capture_default_str();
  add_choice(score, "--format", command->format, {"auto", "jsonl", "tsv"},
             "Of the input; auto: by its first line");
  score.add_flag("--json", command->stream.json, "A JSON object a line instead of the score alone");
  score.add_flag("--skip-bad", command->stream.skip_bad, "Count bad lines instead of stopping at the first");
  add_model_option(score, command->engine);
  add_encoding_options(score, command->engine);
  add_activation_option(score, command->engine);
  add_computing_options(score, command->engine);
  score.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
