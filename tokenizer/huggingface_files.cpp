#include "tokenizer/huggingface_files.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "tokenizer/added_tokens.hpp"
#include "tokenizer/json_field.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/tokenizer_config.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {
namespace {

/// The largest tokenizer.json in the wild has some 20 MB.
constexpr std::uintmax_t kLargestFile = 256U << 20;

bool is_present(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorCode::file_error, path.string() + ": " + reason);
  };
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    refuse("not a file that can be read");
  }
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) {
    refuse(error.message());
  }
  if (bytes > kLargestFile) {
    refuse("has " + std::to_string(bytes) + " bytes, more than a tokenizer file can need");
  }
  std::string content(static_cast<std::size_t>(bytes), '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(content.data(), static_cast<std::streamsize>(content.size()))) {
    refuse("can't be read");
  }
  return content;
}

}  // namespace

Vocabulary parse_vocab_txt(std::string_view content) {
  std::vector<std::pair<std::string, std::int32_t>> tokens;
  if (!is_valid_utf8(content)) {
    throw Error(ErrorCode::bad_model, "vocab.txt: not valid UTF-8");
  }
  while (!content.empty()) {
    const std::size_t line_end = content.find('\n');
    std::string_view line = content.substr(0, line_end);
    std::size_t kept = skip_white_space_back(line, line.size(), 0);
    tokens.emplace_back(line.substr(0, kept), static_cast<std::int32_t>(tokens.size()));
    content = line_end == std::string_view::npos ? std::string_view() : content.substr(line_end + 1);
  }
  return Vocabulary::build(tokens);
}

TokenizerFiles read_tokenizer_files(const std::filesystem::path& folder) {
  const auto json_path = folder / "tokenizer.json";
  const auto vocab_path = folder / "vocab.txt";
  const auto config_path = folder / "tokenizer_config.json";
  std::optional<nlohmann::json> config;
  if (is_present(config_path)) {
    config = parse_json(read_file(config_path), config_path.string());
  }
  if (is_present(json_path)) {
    TokenizerFiles files = parse_tokenizer_json(read_file(json_path), json_path.string());
    if (config) {
      files.settings.model_max_length = read_model_max_length(JsonField(*config, config_path.string()));
    }
    return files;
  }
  if (!is_present(vocab_path)) {
    throw Error(ErrorCode::file_error, folder.string() + ": there is neither tokenizer.json nor vocab.txt");
  }
  const nlohmann::json empty = nlohmann::json::object();
  const JsonField settings(config ? *config : empty, config_path.string());
  check_tokenizer_class(settings);
  TokenizerFiles files;
  try {
    files.vocabulary = parse_vocab_txt(read_file(vocab_path));
  } catch (const Error& error) {
    throw Error(error.code(), folder.string() + ": " + error.what());
  }
  files.settings = read_tokenizer_config(settings, files.vocabulary);
  return files;
}

}  // namespace crossbill::tokenizer
