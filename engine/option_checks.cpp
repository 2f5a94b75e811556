#include "engine/option_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "crossbill/error.hpp"
#include "engine/thread_count.hpp"
#include "kernels/dispatch.hpp"

namespace crossbill {

int default_threads() {
  if (const auto threads = engine::parse_thread_count(std::getenv("CROSSBILL_THREADS"))) return *threads;
  return engine::automatic_threads(engine::allowed_cpus());
}

std::vector<KernelSetInfo> kernel_sets() {
  std::vector<KernelSetInfo> sets;
  for (const kernels::KernelSet* set : kernels::built_kernel_sets()) {
    sets.push_back({set->name, kernels::find_available(set->name) != nullptr});
  }
  return sets;
}

namespace engine {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, sentence);
}

}  // namespace

const kernels::KernelSet& chosen_kernel_set(const std::string& isa) {
  const char* environment = std::getenv("CROSSBILL_ISA");
  const bool from_environment = isa.empty() && environment != nullptr && *environment != '\0';
  const std::string name = from_environment ? environment : isa;
  if (name.empty()) return kernels::best_kernel_set();
  if (const kernels::KernelSet* set = kernels::find_available(name)) return *set;
  std::string available;
  for (const kernels::KernelSet* set : kernels::available_kernel_sets()) {
    available += (available.empty() ? "" : ", ") + std::string(set->name);
  }
  refuse((from_environment ? "the environment variable CROSSBILL_ISA names \"" : "the option isa names \"") +
         name + "\"; kernel sets that this machine can run: " + available);
}

int chosen_threads(int threads) {
  if (threads < 0 || threads > kMostThreads) {
    refuse("threads is " + std::to_string(threads) + "; it must be 0 (as many as there are cores) to " +
           std::to_string(kMostThreads));
  }
  return threads == 0 ? default_threads() : threads;
}

std::size_t chosen_max_length(std::size_t max_length, const loader::Model& model) {
  const std::size_t positions = model.config.max_position_embeddings;
  if (max_length == 0) {
    const std::size_t of_model =
        std::min(positions, model.tokenizer_settings.model_max_length.value_or(positions));
    if (of_model < 3) {
      throw Error(ErrorCode::bad_model, model.name + ": allows pairs of " + std::to_string(of_model) +
                                            " tokens; [CLS] and two [SEP] alone are 3");
    }
    return of_model;
  }
  if (max_length < 3 || max_length > positions) {
    refuse("max_length is " + std::to_string(max_length) + "; for this model it must be 3 to " +
           std::to_string(positions) + ", or 0 for what the model asks for");
  }
  return max_length;
}

std::size_t chosen_label(const std::string& name, const ModelInfo& info) {
  if (name.empty() && info.labels.size() == 1) return 0;
  const auto found = std::find(info.labels.begin(), info.labels.end(), name);
  if (!name.empty() && found != info.labels.end()) {
    return static_cast<std::size_t>(found - info.labels.begin());
  }
  std::string labels;
  for (const std::string& label : info.labels) labels += (labels.empty() ? "\"" : ", \"") + label + "\"";
  if (name.empty()) {
    refuse("the model has " + std::to_string(info.labels.size()) +
           " labels, so a ranking needs one by name: " + labels);
  }
  refuse("the model has no label \"" + name + "\"; it has " + labels);
}

}  // namespace engine
}  // namespace crossbill
