// Writes the tokenizer files of a Hugging Face folder.
#pragma once

#include <filesystem>
#include <string>

#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::loader {

/// tokenizer.json, tokenizer_config.json, and vocab.txt where that format can say the vocabulary (no gaps, no
/// white space at a token's end). `name` stands in messages. Error file_error, or bad_model if a token is not
/// UTF-8, which JSON can't hold.
void write_tokenizer_files(const std::filesystem::path& folder, const tokenizer::Settings& settings,
                           const tokenizer::Vocabulary& vocabulary, const std::string& name);

}  // namespace crossbill::loader
