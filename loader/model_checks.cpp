#include "loader/model_checks.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "crossbill/error.hpp"
#include "loader/message.hpp"
#include "loader/model.hpp"

namespace crossbill::loader {

void check_tokenizer_fits(const Model& model) {
  const std::size_t rows = model.config.vocab_size;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_model, model.name + ": " + what + ", but the model has embeddings for " +
                                          std::to_string(rows) + " (vocab_size)");
  };
  if (model.vocabulary.size() > rows) {
    fail("the vocabulary has " + std::to_string(model.vocabulary.size()) + " ids");
  }
  const auto& settings = model.tokenizer_settings;
  const auto check = [&](std::int32_t id, const std::string& token) {
    if (id < 0 || static_cast<std::size_t>(id) >= rows) {
      fail("the token " + token + " has the id " + std::to_string(id));
    }
  };
  check(settings.cls_id, "[CLS]");
  check(settings.sep_id, "[SEP]");
  for (const auto& token : settings.added_tokens) {
    check(token.id, in_quotes(token.content));
  }
  if (settings.first_type_id >= model.config.type_vocab_size ||
      settings.second_type_id >= model.config.type_vocab_size) {
    throw Error(ErrorCode::bad_model, model.name + ": the tokenizer gives the token types " +
                                          std::to_string(settings.first_type_id) + " and " +
                                          std::to_string(settings.second_type_id) + ", but the model has " +
                                          std::to_string(model.config.type_vocab_size) +
                                          " (type_vocab_size)");
  }
}

void check_finite(std::span<const float> values, const std::string& where) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw Error(ErrorCode::bad_model,
                  where + " has a value that is not finite at index " + std::to_string(i));
    }
  }
}

}  // namespace crossbill::loader
