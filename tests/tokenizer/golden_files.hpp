// Reads the golden files of tests/data/tokenizer (docs of their formats: README.md there) and makes
// tokenizers for them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crossbill/encoding.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {

/// tests/data/tokenizer
std::filesystem::path golden_folder();
/// What CROSSBILL_DATA names, if it is set.
std::optional<std::filesystem::path> big_data_folder();

/// A whole file, unpacked if its name ends in .gz.
std::string read_golden(const std::filesystem::path& path);
std::vector<std::string> split(std::string_view text, char separator);
std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path);

/// A text of the golden files: a string, {"repeat": [s, n]} or {"concat": [x, …]}.
std::string golden_text(const nlohmann::json& text);
/// A list where [v, n] stands for v repeated n times.
std::vector<std::int32_t> unroll(const nlohmann::json& list);

/// bert-base-uncased with its usual settings.
const Vocabulary& base_vocabulary();
Settings base_settings();
const Tokenizer& base_tokenizer();
/// The usual settings, changed by a golden file's "norm" object.
Settings settings_with(const nlohmann::json& norm);
AddedToken added_token(const nlohmann::json& token, std::int32_t id);
/// The tokenizer.json that says what `settings` and vocab.txt say.
nlohmann::json base_tokenizer_json();

/// Ids of a text without the template; [CLS] and [SEP] are taken off.
std::vector<std::int32_t> ids_of(const Tokenizer& tokenizer, std::string_view text, bool as_text = false);
std::vector<std::vector<std::uint32_t>> as_lists(const std::vector<TokenOffset>& offsets);
std::string repeat(std::string_view text, std::size_t times);

/// Options that never cut.
EncodeOptions whole(bool special_tokens_as_text = false);

}  // namespace crossbill::tokenizer
