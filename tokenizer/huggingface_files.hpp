// Reads the tokenizer files of a Hugging Face model folder.
#pragma once

#include <filesystem>
#include <string_view>

#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {

struct TokenizerFiles {
  Settings settings;
  Vocabulary vocabulary;
};

/// From tokenizer.json where there is one, else from vocab.txt + tokenizer_config.json (the latter optional).
/// `padding` and `truncation` blocks of tokenizer.json are ignored; limits come from tokenizer_config.json.
/// Error file_error / bad_model naming file and field; unsupported_model naming the kind ("Unigram", "BPE", a
/// normaliser, a pre-tokeniser, a template other than [CLS] A [SEP] B [SEP]) if it isn't BERT WordPiece.
TokenizerFiles read_tokenizer_files(const std::filesystem::path& folder);

/// The pieces, for tests and fuzzers. `name` stands in error messages.
TokenizerFiles parse_tokenizer_json(std::string_view json, std::string_view name);
Vocabulary parse_vocab_txt(std::string_view content);

}  // namespace crossbill::tokenizer
