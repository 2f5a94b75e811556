// tokenizer_config.json, what stands beside a vocab.txt.
#pragma once

#include <cstddef>
#include <optional>

#include "tokenizer/json_field.hpp"
#include "tokenizer/settings.hpp"
#include "tokenizer/vocabulary.hpp"

namespace crossbill::tokenizer {

/// `model_max_length`; nothing if it is absent or stands for "no limit", as 1e30 does.
std::optional<std::size_t> read_model_max_length(const JsonField& config);

/// Error unsupported_model naming the class unless it is one of BERT's or absent.
void check_tokenizer_class(const JsonField& config);

/// The settings that a BertTokenizer has with this configuration; every field may be absent. Error bad_model
/// if [CLS] or [SEP], by whatever name, is not in the vocabulary, or an added token contradicts it.
Settings read_tokenizer_config(const JsonField& config, const Vocabulary& vocabulary);

}  // namespace crossbill::tokenizer
