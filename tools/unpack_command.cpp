// crossbill unpack: a packed file becomes a Hugging Face folder again, so that PyTorch can check it.
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "loader/packing.hpp"
#include "tools/commands.hpp"
#include "tools/failures.hpp"
#include "tools/interrupt.hpp"
#include "tools/json_line.hpp"
#include "tools/model_argument.hpp"
#include "tools/model_choice.hpp"
#include "tools/number_format.hpp"
#include "tools/standard_output.hpp"

namespace crossbill::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    "FOLDER gets config.json, model.safetensors (f32, the values that the engine computes with),\n"
    "tokenizer.json, tokenizer_config.json and vocab.txt. Scores of the folder are the packed\n"
    "file's, in PyTorch as here. With --json the report is {\"folder\":…,\"weight_bytes\":…}.\n"
    "\n"
    "Examples:\n"
    "  crossbill unpack crossbill-minilm-l3 ./l3\n"
    "  crossbill unpack my-cross-encoder.cbm ./my-cross-encoder --force\n"
    "  python -c 'from transformers import AutoModelForSequenceClassification as M;\n"
    "             print(M.from_pretrained(\"./l3\"))'";

struct UnpackCommand {
  ModelArgument argument;
  bool force = false;
  bool json = false;

  int run() const;
};

// A folder beside the one wanted that disappears again, whatever happens.
class PassingFolder {
 public:
  explicit PassingFolder(fs::path path) : path_(std::move(path)) {}
  ~PassingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// With --force the model's files replace those of the same name, and the folder's other files stay.
void unpack_over(const loader::Model& model, const fs::path& folder, const std::stop_token& stop) {
  fs::path beside = folder.lexically_normal();
  if (!beside.has_filename()) beside = beside.parent_path();
  beside += ".unpacking-" + std::to_string(getpid());
  const PassingFolder fresh(beside);
  loader::unpack_model(model, fresh.path(), stop);
  for (const fs::directory_entry& entry : fs::directory_iterator(fresh.path())) {
    fs::rename(entry.path(), folder / entry.path().filename());
  }
}

int UnpackCommand::run() const {
  const std::string& folder = argument.target;
  std::error_code ignored;
  const bool exists = fs::exists(folder, ignored);
  if (exists && !fs::is_directory(folder, ignored))
    throw InputError(folder + " is a file; a folder is written");
  const bool occupied = exists && !fs::is_empty(folder, ignored);
  if (occupied && !force) throw InputError(folder + " isn't empty; --force writes into it all the same");
  const auto opened = loader::open_model(find_model(argument.model, model_folders()));
  const Interrupt interrupt;
  if (occupied) {
    unpack_over(*opened, folder, interrupt.token());
  } else {
    loader::unpack_model(*opened, folder, interrupt.token());
  }
  const std::uintmax_t bytes = fs::file_size(fs::path(folder) / "model.safetensors");
  StandardOutput output;
  if (json) {
    JsonObjectWriter line;
    line.string("folder", folder).integer("weight_bytes", static_cast<long long>(bytes));
    output.line(line.take());
  } else {
    output.line("wrote " + folder + ": a Hugging Face folder with " + byte_size(bytes) + " of f32 weights");
  }
  output.flush();
  return exit_fine;
}

}  // namespace

void add_unpack_command(CLI::App& app, Action& action) {
  const auto command = std::make_shared<UnpackCommand>();
  CLI::App& unpack = *app.add_subcommand("unpack", "Write a packed model as a Hugging Face folder");
  unpack.footer(kFooter);
  add_model_argument(unpack, command->argument, "FOLDER", "The folder to write, new or empty");
  unpack.add_flag("--force,-f", command->force,
                  "Write into a folder that has files; same names are replaced");
  unpack.add_flag("--json", command->json, "The report as JSON");
  unpack.callback([command, &action] { action = [command] { return command->run(); }; });
}

}  // namespace crossbill::tools
