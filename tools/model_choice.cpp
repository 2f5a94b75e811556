// Finds the model that --model means: a path, or the name of a bundled model.
#include "tools/model_choice.hpp"

#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>

#include "tools/failures.hpp"

namespace crossbill::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".cbm";

template <class Range>
std::string listed(const Range& items) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += item;
  }
  return text;
}

}  // namespace

std::vector<fs::path> model_folders() {
  const char* chosen = std::getenv("CROSSBILL_MODELS_DIR");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return {};
  const fs::path above = program.parent_path().parent_path();
  return {above / "share/crossbill/models", above / "models"};
}

std::vector<std::string> model_names(const std::vector<fs::path>& folders) {
  std::set<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == kSuffix) names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path find_model(const std::string& model, const std::vector<fs::path>& folders) {
  std::error_code ignored;
  if (model.find('/') != std::string::npos || model.ends_with(kSuffix)) {
    if (fs::symlink_status(model, ignored).type() != fs::file_type::not_found) return model;
    throw InputError(
        model +
        ": there is no such file or folder. Crossbill downloads nothing: give a .cbm file, a Hugging "
        "Face folder on this machine, or a bundled model's name");
  }
  for (const fs::path& folder : folders) {
    fs::path candidate = folder / (model + std::string(kSuffix));
    if (fs::exists(candidate, ignored)) return candidate;
  }
  if (!model.empty() && fs::exists(model, ignored)) return model;
  const std::vector<std::string> names = model_names(folders);
  std::vector<std::string> places;
  for (const fs::path& folder : folders) places.push_back(folder.lexically_normal().string());
  throw InputError("no model is called \"" + model +
                   "\"; found: " + (names.empty() ? std::string("none") : listed(names)) +
                   "; looked in: " + (places.empty() ? std::string("nowhere") : listed(places)) +
                   ". A path to a .cbm file or a Hugging Face folder works as well.");
}

}  // namespace crossbill::tools
