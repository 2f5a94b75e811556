// crossbill tokenize: texts or pairs in, their tokens out, as the model sees them.
#include <CLI/CLI.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "tools/commands.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/json_line.hpp"
#include "tools/number_format.hpp"
#include "tools/option_style.hpp"
#include "tools/standard_output.hpp"
#include "tools/text_reader.hpp"

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

// A writer gets this long to send the next line before we print what there is.
constexpr std::chrono::milliseconds kPatience(5);

const std::map<std::string, LineFormat> kFormats = {
    {"auto", LineFormat::automatic}, {"text", LineFormat::text}, {"jsonl", LineFormat::jsonl}};

struct TokenizeCommand {
  EngineOptions engine;
  std::string file = "-";
  std::string format = "auto";
  bool json = false;
  bool skip_bad = false;

  int run() const;
  std::string tokenize(const Reranker& reranker, const TextRecord& record, std::size_t& truncated) const;
};

std::string as_json(const Tokenization& tokenization) {
  JsonObjectWriter line;
  line.raw("ids", json_array(tokenization.ids, [](std::int32_t id) { return std::to_string(id); }));
  line.raw("type_ids", json_array(tokenization.type_ids, [](unsigned type) { return std::to_string(type); }));
  line.raw("tokens",
           json_array(tokenization.tokens, [](const std::string& token) { return json_string(token); }));
  line.raw("offsets", json_array(tokenization.offsets, [](const TokenOffset& offset) {
             return "[" + std::to_string(offset.begin) + "," + std::to_string(offset.end) + "]";
           }));
  line.boolean("truncated", tokenization.truncated);
  return line.take();
}

std::string as_text(const Tokenization& tokenization) {
  std::string text;
  for (const std::string& token : tokenization.tokens) {
    if (!text.empty()) text += ' ';
    text += token;
  }
  return text;
}

// The output line of one record; BadLine if there is none.
std::string TokenizeCommand::tokenize(const Reranker& reranker, const TextRecord& record,
                                      std::size_t& truncated) const {
  if (!record.fault.empty()) throw BadLine(record.fault);
  try {
    const Tokenization tokenization =
        record.passage ? reranker.tokenize(record.text, *record.passage) : reranker.tokenize(record.text);
    truncated += tokenization.truncated ? 1 : 0;
    return json ? as_json(tokenization) : as_text(tokenization);
  } catch (const Error& fault) {
    if (fault.code() != ErrorCode::input_too_long) throw;
    throw BadLine(fault.what());
  }
}

int TokenizeCommand::run() const {
  const Interrupt interrupt;
  TextInput input(file, interrupt.wake_fd());
  const Reranker reranker = open_reranker(engine);
  if (input.is_terminal()) say("reading texts from the terminal; Ctrl-D ends them");
  LineReader lines(input);
  TextReader texts(lines, kFormats.at(format));
  StandardOutput output;
  std::size_t count = 0, truncated = 0, bad = 0;
  std::string first_bad;
  TextRecord record;
  try {
    while (true) {
      if (!texts.ready(kPatience)) output.flush();
      if (!texts.next(record)) break;
      ++count;
      try {
        output.line(tokenize(reranker, record, truncated));
      } catch (const BadLine& fault) {
        const std::string sentence = lines.place(record.line) + ": " + fault.what();
        if (!skip_bad) throw InputError(sentence);
        if (++bad == 1) first_bad = sentence;
        output.line(json ? "null" : "");
      }
      output.flush_if_full();
    }
  } catch (...) {
    output.flush();  // what came before the trouble is not lost
    throw;
  }
  output.flush();
  if (truncated > 0) {
    say("note: " + grouped(truncated) + " of " + counted(count, "line") + " were cut to " +
        std::to_string(reranker.info().max_length) + " tokens");
  }
  if (bad > 0) say("note: " + counted(bad, "bad line") + " skipped; the first: " + first_bad);
  return exit_fine;
}

}  // namespace

void add_tokenize_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<TokenizeCommand>();
  command->engine.threads = 1;
  CLI::App& tokenize = *app.add_subcommand("tokenize", "Show the tokens of texts or pairs");
  tokenize.footer(kFooter);
  tokenize.add_option("FILE", command->file, "Texts or pairs; - is standard input")->capture_default_str();
  add_choice(tokenize, "--format", command->format, {"auto", "text", "jsonl"},
             "Of the input; auto: by its first line");
  tokenize.add_flag("--json", command->json, "All that is known of the tokens, as JSON lines");
  tokenize.add_flag("--skip-bad", command->skip_bad, "Count bad lines instead of stopping at the first");
  add_model_option(tokenize, command->engine);
  add_encoding_options(tokenize, command->engine);
  tokenize.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
