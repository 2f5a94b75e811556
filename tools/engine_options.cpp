// The command line options that several commands share, and the model opened by them.
#include "tools/engine_options.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <map>

#include "tools/failures.hpp"
#include "tools/option_style.hpp"

namespace crossbill::tools {
namespace {

const std::map<std::string, Precision> kPrecisions = {
    {"auto", Precision::automatic}, {"fp32", Precision::fp32}, {"reference", Precision::reference}};
const std::map<std::string, Activation> kActivations = {
    {"model", Activation::model}, {"none", Activation::none}, {"sigmoid", Activation::sigmoid}};
const std::map<std::string, Truncation> kTruncations = {{"longest", Truncation::longest_first},
                                                        {"query", Truncation::only_query},
                                                        {"passage", Truncation::only_passage},
                                                        {"error", Truncation::refuse}};
const std::map<std::string, TruncationSide> kSides = {{"right", TruncationSide::right},
                                                      {"left", TruncationSide::left}};

}  // namespace

void add_model_option(CLI::App& command, EngineOptions& options) {
  command
      .add_option("--model,-m", options.model,
                  "A bundled model's name, a .cbm file or a Hugging Face\nfolder")
      ->type_name("NAME|PATH")
      ->envname("CROSSBILL_MODEL")
      ->capture_default_str();
}

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads,-t", threads, "Worker threads; 0: one a physical core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""))
      ->capture_default_str();
}

void add_computing_options(CLI::App& command, EngineOptions& options) {
  add_threads_option(command, options.threads);
  command
      .add_option(
          "--isa", options.isa,
          "Kernel set by name, see crossbill info;\nby default the variable CROSSBILL_ISA, else the best")
      ->type_name("NAME");
  add_choice(command, "--precision", options.precision, {"auto", "fp32", "reference"},
             "auto and fp32 compute in single precision;\nreference is plain double loops, slow");
}

void add_activation_option(CLI::App& command, EngineOptions& options) {
  add_choice(command, "--activation", options.activation, {"model", "none", "sigmoid"},
             "From logit to score; model: what its configuration\nnames, else none");
}

void add_encoding_options(CLI::App& command, EngineOptions& options) {
  command
      .add_option("--max-length", options.max_length,
                  "Tokens a pair may have, special ones included;\nby default what the model allows")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{3}, std::size_t{1'000'000}).description(""));
  add_choice(command, "--truncate", options.truncate, {"longest", "query", "passage", "error"},
             "Which side of a pair that is too long is shortened;\nerror: none, the pair is a bad line");
  add_choice(command, "--truncation-side", options.truncation_side, {"right", "left"},
             "The end that loses tokens");
  command.add_flag(
      "--special-tokens-as-text", options.special_tokens_as_text,
      "Read \"[SEP]\" and the like in a text as plain characters,\nso that text can't forge them");
}

Reranker open_reranker(const EngineOptions& options) {
  Options opened;
  opened.threads = options.threads;
  opened.isa = options.isa;
  opened.precision = kPrecisions.at(options.precision);
  opened.activation = kActivations.at(options.activation);
  opened.max_length = options.max_length;
  opened.truncation = kTruncations.at(options.truncate);
  opened.truncation_side = kSides.at(options.truncation_side);
  opened.special_tokens_as_text = options.special_tokens_as_text;
  const std::filesystem::path path = find_model(options.model, model_folders());
  try {
    return Reranker(path, opened);
  } catch (const Error& fault) {
    if (fault.code() == ErrorCode::invalid_argument) throw UsageError(fault.what());
    throw;
  }
}

std::string short_model_name(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  return name.extension() == ".cbm" ? name.stem().string() : name.filename().string();
}

}  // namespace crossbill::tools
