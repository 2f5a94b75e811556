// JSON from files that nobody vouches for: no duplicate keys, bounded depth, and errors that name file and
// field.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossbill::tokenizer {

/// Error bad_model, naming `name`, if the text is not one JSON value in UTF-8, an object has a key twice, or
/// the nesting is deeper than 32. Numbers too large for an integer become floating-point.
nlohmann::json parse_json(std::string_view text, std::string_view name);

/// A value inside a JSON document and the way to it. Borrows the document. What doesn't fit is Error
/// bad_model.
class JsonField {
 public:
  /// `where` begins every sentence, for example "tokenizer.json".
  JsonField(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  /// A member of an object; nothing if it is missing or null.
  std::optional<JsonField> find(const char* key) const;
  /// A member that must be there; it may be null.
  JsonField at(const char* key) const;
  /// The elements of a list.
  std::vector<JsonField> elements() const;

  bool is_null() const noexcept { return value_->is_null(); }
  bool is_text() const noexcept { return value_->is_string(); }
  const std::string& text() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;
  double number() const;
  /// The object itself, for a walk over its keys.
  const nlohmann::json::object_t& object() const;

  const std::string& where() const noexcept { return where_; }
  /// Throws "where is …, but should be `expected`".
  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  const nlohmann::json* value_;
  std::string where_;
};

}  // namespace crossbill::tokenizer
