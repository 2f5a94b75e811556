// What a tokenizer.json (or vocab.txt + tokenizer_config.json) says besides the vocabulary itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossbill::tokenizer {

/// A token that is looked for in the raw text, before any splitting ("[SEP]", "[MASK]", or a user's own).
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool single_word = false;  ///< only where no word character stands on either side
  bool lstrip = false;       ///< swallows white space on its left
  bool rstrip = false;       ///< swallows white space on its right
  bool normalized = false;   ///< looked for in the normalised text instead of the raw one
  bool special = false;      ///< treated as plain text when `special_tokens_as_text` is set
};

/// Field names and defaults are Hugging Face's.
struct Settings {
  // BertNormalizer
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  ///< absent: as `lowercase` says
  bool lowercase = true;
  // WordPiece
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  std::size_t max_input_chars_per_word = 100;  ///< code points after normalisation
  // Found in raw text
  std::vector<AddedToken> added_tokens;
  // Template [CLS] A [SEP] B [SEP]
  std::int32_t cls_id = 0;
  std::int32_t sep_id = 0;
  std::uint8_t first_type_id = 0;   ///< [CLS] A [SEP]
  std::uint8_t second_type_id = 1;  ///< B [SEP]
  /// tokenizer_config.json's model_max_length; absent where there is none or it means "no limit"
  std::optional<std::size_t> model_max_length;
};

}  // namespace crossbill::tokenizer
