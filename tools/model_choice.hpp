// Finds the model that --model means: a path, or the name of a bundled model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace crossbill::tools {

/// The model that is used when nothing is said.
inline constexpr const char* kDefaultModel = "crossbill-minilm-l3";

/// Folders where bundled models may lie, in the order they are looked at: the variable CROSSBILL_MODELS_DIR
/// alone if it is set, else what lies beside the program, installed or in the build tree.
std::vector<std::filesystem::path> model_folders();

/// Names of the models found in `folders` (NAME.cbm), sorted, each once.
std::vector<std::string> model_names(const std::vector<std::filesystem::path>& folders);

/// `model` is a bundled model's name or a path. What has a "/" or ends in ".cbm" is a path, which must exist
/// and is returned as it is; anything else is looked for as NAME.cbm in `folders`, then as a file or folder
/// here. InputError lists the names there are and the places that were looked at.
std::filesystem::path find_model(const std::string& model, const std::vector<std::filesystem::path>& folders);

}  // namespace crossbill::tools
