// Writes the tokenizer files of a Hugging Face folder.
#pragma once

#include <filesystem>

#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::loader {

/// tokenizer.json, tokenizer_config.json, and vocab.txt where that format can say the vocabulary (no gaps, no
/// white space at a token's end). Error file_error.
void write_tokenizer_files(const std::filesystem::path& folder, const tokenizer::Settings& settings,
                           const tokenizer::Vocabulary& vocabulary);

}  // namespace crossbill::loader
