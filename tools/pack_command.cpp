// crossbill pack: a Hugging Face folder (or a .cbm file) becomes one packed file.
#include <CLI/CLI.hpp>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "crossbill/error.hpp"
#include "loader/packing.hpp"
#include "tools/commands.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/json_line.hpp"
#include "tools/model_argument.hpp"
#include "tools/model_choice.hpp"
#include "tools/number_format.hpp"
#include "tools/option_style.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kFooter =
    "MODEL is a folder with config.json, model.safetensors and tokenizer files, as Hugging Face\n"
    "lays it out, or a .cbm file. OUT is one file that is mapped\n"
    "and checked in milliseconds.\n"
    "  int8  a quarter of f32's size; the report says how near the weights stay (dB)\n"
    "  f16   half of f32's size; exact if the source is f16\n"
    "With --json the report is one object,\n"
    "  {\"file\":…,\"bytes\":…,\"weights\":\"int8\",\"weight_snr_db\":…,\"exact\":false,\"inexact_f16\":0}\n"
    "\n"
    "Examples:\n"
    "  crossbill pack ./my-cross-encoder my-cross-encoder.cbm\n"
    "  crossbill pack ./my-cross-encoder my-cross-encoder.cbm --weights f16 --force\n"
    "  crossbill pack --model ./my-cross-encoder my-cross-encoder.cbm --json";

struct PackCommand {
  ModelArgument argument;
  std::string weights = "int8";
  bool force = false;
  bool json = false;

  int run() const;
};

std::string as_json(const PackCommand& command, const loader::PackReport& report) {
  JsonObjectWriter line;
  line.string("file", command.argument.target).integer("bytes", static_cast<long long>(report.bytes));
  line.string("weights", command.weights).number("weight_snr_db", report.weight_snr_db);
  line.boolean("exact", std::isinf(report.weight_snr_db));
  line.integer("inexact_f16", static_cast<long long>(report.inexact_f16));
  return line.take();
}

std::string as_text(const PackCommand& command, const loader::PackReport& report, std::size_t source_bytes) {
  std::string text = "wrote " + command.argument.target + ": " + byte_size(report.bytes) +
                     " (the source has " + byte_size(source_bytes) + "), " + command.weights + " weights, ";
  text += std::isinf(report.weight_snr_db)
              ? std::string("the same values as the source")
              : "signal to noise " + fixed(report.weight_snr_db, 1) + " dB against the source";
  if (report.inexact_f16 > 0) text += ", " + counted(report.inexact_f16, "value") + " rounded to f16";
  return text + "\nnext: crossbill rank --model " + command.argument.target + " --query \"…\" passages.txt";
}

int PackCommand::run() const {
  const std::string& out = argument.target;
  std::error_code ignored;
  if (std::filesystem::is_directory(out, ignored)) {
    throw UsageError(out + " is a folder; OUT is the file to write, for example " + out + "/model.cbm");
  }
  if (!force && std::filesystem::exists(std::filesystem::symlink_status(out, ignored))) {
    throw InputError(out + " exists; --force replaces it");
  }
  const auto opened = loader::open_model(find_model(argument.model, model_folders()));
  const Interrupt interrupt;
  const auto kind = weights == "f16" ? loader::PackedWeights::f16 : loader::PackedWeights::int8;
  const loader::PackReport report = loader::pack_model(*opened, out, kind, interrupt.token());
  StandardOutput output;
  output.line(json ? as_json(*this, report) : as_text(*this, report, opened->bytes));
  output.flush();
  return exit_fine;
}

}  // namespace

void add_pack_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<PackCommand>();
  CLI::App& pack = *app.add_subcommand("pack", "Pack a Hugging Face folder into one .cbm file");
  pack.footer(kFooter);
  add_model_argument(pack, command->argument, "OUT", "The file to write");
  add_choice(pack, "--weights", command->weights, {"int8", "f16"}, "How weights are held");
  pack.add_flag("--force,-f", command->force, "Replace OUT if it exists");
  pack.add_flag("--json", command->json, "The report as JSON");
  pack.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
