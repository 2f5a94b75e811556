// crossbill info: what is known of a model, of this machine and of this build.
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "tools/commands.hpp"
#include "tools/engine_options.hpp"
#include "tools/failures.hpp"
#include "tools/json_line.hpp"
#include "tools/number_format.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {
namespace {

constexpr const char* kFooter =
    "Output: the model's facts, the kernel sets this build has (\"not here\": this machine can't run\n"
    "it), the one in use, and the build. With --json one object,\n"
    "  {\"version\":…,\"compiler\":…,\"build_type\":…,\"default_threads\":…,\n"
    "   \"kernel_sets\":[{\"name\":…,\"available\":…,\"in_use\":…},…],\"model\":{…}}\n"
    "\n"
    "Examples:\n"
    "  crossbill info\n"
    "  crossbill info --json ./my-cross-encoder | python3 -m json.tool\n"
    "  CROSSBILL_ISA=portable crossbill info";

struct InfoCommand {
  EngineOptions engine;
  std::string model;  ///< the positional; empty: --model
  bool json = false;

  int run();
};

std::string compiler() {
#if defined(__clang__)
  return std::string("Clang ") + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) +
         "." + std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return std::string("GCC ") + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string string_array(const std::vector<std::string>& items) {
  return json_array(items, [](const std::string& item) { return json_string(item); });
}

// "portable, avx2, avx512 (in use), amx_int8 (not here)"; `in_use` may be empty.
std::string kernel_set_list(const std::string& in_use) {
  std::vector<std::string> names;
  for (const KernelSetInfo& set : kernel_sets()) {
    names.push_back(set.name + (!set.available ? " (not here)" : set.name == in_use ? " (in use)" : ""));
  }
  return joined(names);
}

std::string model_as_json(const ModelInfo& info) {
  const auto count = [](std::size_t value) { return static_cast<long long>(value); };
  JsonObjectWriter model;
  model.string("name", info.name).string("format", info.format).string("weights", info.weights);
  model.integer("file_bytes", count(info.file_bytes)).integer("layers", count(info.layers));
  model.integer("hidden_size", count(info.hidden_size)).integer("heads", count(info.heads));
  model.integer("intermediate_size", count(info.intermediate_size));
  model.integer("vocabulary", count(info.vocabulary)).integer("max_length", count(info.max_length));
  model.raw("labels", string_array(info.labels)).string("activation", info.activation);
  model.string("precision", info.precision).string("isa", info.isa).integer("threads", info.threads);
  model.string("source_sha256", info.source_sha256);
  model.raw("unused_tensors", string_array(info.unused_tensors));
  return model.take();
}

std::string info_as_json(const ModelInfo& info) {
  JsonObjectWriter line;
  line.string("version", version()).string("compiler", compiler()).string("build_type", CROSSBILL_BUILD_TYPE);
  line.integer("default_threads", default_threads());
  line.raw("kernel_sets", json_array(kernel_sets(), [&info](const KernelSetInfo& set) {
             JsonObjectWriter entry;
             entry.string("name", set.name).boolean("available", set.available);
             return entry.boolean("in_use", set.name == info.isa).take();
           }));
  return line.raw("model", model_as_json(info)).take();
}

std::string info_as_text(const ModelInfo& info) {
  std::string text;
  const auto fact = [&text](std::string name, const std::string& value) {
    name.resize(14, ' ');
    text += "  " + name + value + "\n";
  };
  text += "model " + short_model_name(info.name) + "\n";
  fact("file", info.name + ", " + byte_size(info.file_bytes) + ", " + info.format);
  fact("weights", info.weights);
  fact("size", counted(info.layers, "layer") + ", " + std::to_string(info.hidden_size) + " wide, " +
                   counted(info.heads, "head") + ", feed-forward " + std::to_string(info.intermediate_size));
  fact("vocabulary", grouped(info.vocabulary) + " entries");
  fact("max length", counted(info.max_length, "token"));
  fact(info.labels.size() == 1 ? "label" : "labels", joined(info.labels));
  fact("activation", info.activation);
  if (!info.source_sha256.empty()) fact("packed from", "weights with sha256 " + info.source_sha256);
  if (!info.unused_tensors.empty()) fact("not needed", joined(info.unused_tensors));
  text += "\nthis machine\n";
  fact("kernel sets", kernel_set_list(info.isa));
  fact("threads",
       std::to_string(info.threads) + (info.threads == default_threads() ? " (the default here)" : ""));
  fact("precision", info.precision);
  text +=
      "\ncrossbill " + std::string(version()) + ", " + compiler() + ", " + CROSSBILL_BUILD_TYPE + " build";
  return text;
}

int InfoCommand::run() {
  if (!model.empty()) engine.model = model;
  const Reranker reranker = open_reranker(engine);
  StandardOutput output;
  output.line(json ? info_as_json(reranker.info()) : info_as_text(reranker.info()));
  output.flush();
  return exit_fine;
}

}  // namespace

std::string version_text() {
  return "crossbill " + std::string(version()) + "\nkernel sets: " + kernel_set_list("") + "\nbuilt with " +
         compiler() + ", " + CROSSBILL_BUILD_TYPE;
}

void add_info_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<InfoCommand>();
  CLI::App& info = *app.add_subcommand("info", "Show the facts of a model and of this machine");
  info.footer(kFooter);
  info.add_option("MODEL", command->model, "Same as --model");
  info.add_flag("--json", command->json, "As one JSON object");
  add_model_option(info, command->engine);
  add_activation_option(info, command->engine);
  add_computing_options(info, command->engine);
  info.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
