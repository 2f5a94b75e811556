// crossbill rank: passages in, the best answers to a query first out.
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <string>

#include "tools/commands.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"
#include "tools/option_style.hpp"
#include "tools/rank_run.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kFooter =
    "With --query the input is passages, one a line: plain text (each line one passage), or\n"
    "JSON with \"text\" or \"passage\" and any other fields, which are kept in JSON output:\n"
    "  {\"text\": \"Honey keeps for years.\", \"id\": 17, \"score\": 12.4}\n"
    "Without --query each line is a request, passages being strings or such objects:\n"
    "  {\"query\": \"does honey go bad\", \"passages\": [\"Honey keeps for years.\", \"Milk sours.\"]}\n"
    "\n"
    "Output: a table on a terminal (or with --table); else, separated by tabs,\n"
    "  rank  score  index  tokens  passage        (requests: preceded by the request's number)\n"
    "where index counts the passages from 0. With --json one object a passage,\n"
    "  {\"rank\":1,\"index\":0,\"score\":8.1,\"logit\":8.1,\"tokens\":13,\"truncated\":false,…your fields}\n"
    "or one a request, {…your fields,\"results\":[{\"rank\":1,…},…]}. A field of yours whose name\n"
    "is one of ours comes out as input_NAME. Ties are ordered by index, nan comes last.\n"
    "\n"
    "--fusion W ranks by W*first + (1-W)*score, where first is the passage's own \"score\" (from\n"
    "BM25, say). Both are taken as they are, so mind their scales; --activation sigmoid brings\n"
    "ours to 0…1. A passage's result never depends on the other passages.\n"
    "\n"
    "Examples:\n"
    "  crossbill rank --query \"does honey go bad\" passages.txt\n"
    "  crossbill rank --query \"does honey go bad\" --top 3 --json hits.jsonl\n"
    "  bm25-search topics.txt | crossbill rank --fusion 0.2 --json > reranked.jsonl";

struct RankCommand {
  EngineOptions engine;
  RankRunSettings settings;
  std::string query, format = "auto";
  std::size_t top = 0;
  double fusion = 0;
  bool has_query = false, has_top = false, has_fusion = false;

  int run();
};

const std::map<std::string, LineFormat> kFormats = {
    {"auto", LineFormat::automatic}, {"text", LineFormat::text}, {"jsonl", LineFormat::jsonl}};

int RankCommand::run() {
  if (has_query) settings.query = query;
  if (has_top) settings.ranking.top = top;
  if (has_fusion) settings.ranking.fusion = fusion;
  settings.format = kFormats.at(format);
  if (!has_query && settings.format == LineFormat::text) {
    throw UsageError("plain passages need a query: add --query \"…\"");
  }
  return run_rank(settings, engine);
}

void add_input_options(CLI::App& rank, const std::shared_ptr<RankCommand>& command) {
  rank.add_option("FILE", command->settings.file, "Passages or requests; - is standard input")
      ->capture_default_str();
  rank.add_option_function<std::string>(
          "--query,-q",
          [command](const std::string& query) {
            command->query = query;
            command->has_query = true;
          },
          "The question; without it the input holds requests")
      ->type_name("TEXT");
  add_choice(rank, "--format", command->format, {"auto", "text", "jsonl"},
             "Of passages; auto: by the first line");
  rank.add_flag("--skip-bad", command->settings.skip_bad,
                "Count bad lines instead of stopping at the first; a bad\nrequest gives null in JSON output");
}

void add_ranking_options(CLI::App& rank, const std::shared_ptr<RankCommand>& command) {
  rank.add_option_function<std::size_t>(
          "--top,-n",
          [command](const std::size_t& top) {
            command->top = top;
            command->has_top = true;
          },
          "Only the best N; by default all")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40).description(""));
  rank.add_option_function<double>(
          "--fusion",
          [command](const double& weight) {
            // Written so that NaN, which passes a comparison of the other kind, is refused too.
            if (!(weight >= 0 && weight <= 1))
              throw CLI::ValidationError("--fusion", "W is a number from 0 to 1");
            command->fusion = weight;
            command->has_fusion = true;
          },
          "Weight of the passages' own first-stage \"score\", 0 to 1")
      ->type_name("W");
  rank.add_option("--label", command->settings.ranking.label,
                  "The label to rank by, needed if the model has several")
      ->type_name("NAME");
  CLI::Option* json = rank.add_flag("--json", command->settings.json, "JSON lines, see below");
  rank.add_flag("--table", command->settings.table, "A table even where the output is no terminal")
      ->excludes(json);
}

}  // namespace

void add_rank_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<RankCommand>();
  CLI::App& rank = *app.add_subcommand("rank", "Order passages by how well they answer a query");
  rank.footer(kFooter);
  add_input_options(rank, command);
  add_ranking_options(rank, command);
  add_model_option(rank, command->engine);
  add_encoding_options(rank, command->engine);
  add_activation_option(rank, command->engine);
  add_computing_options(rank, command->engine);
  rank.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
