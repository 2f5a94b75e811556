#include "loader/huggingface_weights.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/file_bytes.hpp"
#include "loader/message.hpp"
#include "loader/safetensors.hpp"
#include "loader/strict_json.hpp"

namespace crossbill::loader {
namespace {

constexpr std::size_t kLongestIndex = 1u << 20;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// The folder lacks safetensors; says what could be done about what it has instead.
[[noreturn]] void refuse_folder(const std::filesystem::path& folder) {
  for (const auto& place : {folder, folder / "onnx"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(place, error), end; !error && at != end;
         at.increment(error)) {
      refuse_convertible_file(at->path());
    }
  }
  throw Error(ErrorCode::file_error,
              in_quotes(folder.string()) + " has no model.safetensors and no model.safetensors.index.json");
}

/// A shard's name must be a plain one: an index must not reach outside its folder.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

}  // namespace

void refuse_convertible_file(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const bool torch =
      name.starts_with("pytorch_model") && (name.ends_with(".bin") || name.ends_with(".bin.index.json"));
  if (torch || name.ends_with(".onnx")) {
    auto folder = file.parent_path();
    if (folder.filename() == "onnx") {
      folder = folder.parent_path();
    }
    throw Error(ErrorCode::unsupported_model,
                in_quotes(file.string()) +
                    ": Crossbill reads safetensors; convert with: python3 tools/convert_to_safetensors.py " +
                    (folder.empty() ? "." : folder.string()));
  }
}

HuggingFaceWeights::HuggingFaceWeights(const std::filesystem::path& folder, LoadMode mode) {
  const auto single = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  if (is_there(single)) {
    name_ = single.string();
    files_.emplace_back(open_file(single, mode), name_);
    for (const auto& entry : files_.front().entries()) {
      tensors_.push_back({&entry, &files_.front()});
    }
  } else if (is_there(index)) {
    name_ = index.string();
    open_shards(folder, index, mode);
  } else {
    refuse_folder(folder);
  }
}

void HuggingFaceWeights::open_shards(const std::filesystem::path& folder, const std::filesystem::path& index,
                                     LoadMode mode) {
  const auto tree = parse_strict_json(read_text_file(index, kLongestIndex), name_);
  const JsonFields map = JsonFields(tree, name_).object("weight_map");
  std::map<std::string, std::size_t> shards;  // file name → place in files_
  for (const auto& [tensor, shard] : map.json().items()) {
    if (!shard.is_string() || !is_plain_file_name(shard.get<std::string>())) {
      throw Error(ErrorCode::bad_model,
                  name_ + ": tensor " + in_quotes(tensor) + " is not mapped to a file name");
    }
    shards.emplace(shard.get<std::string>(), 0);
  }
  files_.reserve(shards.size());  // tensors_ points into it
  for (auto& [name, place] : shards) {
    place = files_.size();
    files_.emplace_back(open_file(folder / name, mode), (folder / name).string());
  }
  for (const auto& [tensor, shard] : map.json().items()) {
    const SafetensorsFile& file = files_[shards.at(shard.get<std::string>())];
    const SafetensorsEntry* entry = file.find(tensor);
    if (entry == nullptr) {
      throw Error(ErrorCode::bad_model, file.name() + ": tensor " + in_quotes(tensor) +
                                            " is missing, although the index says that it is here");
    }
    tensors_.push_back({entry, &file});
  }
}

FoundTensor HuggingFaceWeights::find(std::string_view name) const {
  const auto at =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const FoundTensor& t, std::string_view n) { return t.entry->name < n; });
  return at != tensors_.end() && at->entry->name == name ? *at : FoundTensor{};
}

}  // namespace crossbill::loader
