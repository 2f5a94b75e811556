// JSON from files that nobody vouches for: no duplicate keys, bounded depth, and errors that name the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace crossbill::loader {

/// Parses one JSON value. Error bad_model that begins with `name` if the text is not valid JSON in UTF-8, an
/// object has a key twice, or it is nested more than 64 deep. The tree takes at most some 50 bytes per byte
/// of text, so callers bound the text.
nlohmann::json parse_strict_json(std::string_view text, std::string_view name);

/// The fields of one JSON object, by name and type. `where` begins every error sentence.
class JsonFields {
 public:
  /// Error bad_model if `value` is not an object. `value` is borrowed.
  JsonFields(const nlohmann::json& value, std::string where);

  /// Null if there is no such field or it is JSON's null.
  const nlohmann::json* find(const char* key) const;

  // Each is Error bad_model if the field is missing or not what the name says; the `optional_` ones give
  // nothing for a missing field or a null.
  std::size_t integer(const char* key, std::size_t least, std::size_t most) const;
  bool boolean(const char* key) const;
  std::string text(const char* key) const;
  JsonFields object(const char* key) const;
  const nlohmann::json& array(const char* key) const;
  std::optional<std::size_t> optional_integer(const char* key, std::size_t least, std::size_t most) const;
  std::optional<bool> optional_boolean(const char* key) const;
  std::optional<std::string> optional_text(const char* key) const;
  std::optional<double> optional_number(const char* key) const;
  std::optional<JsonFields> optional_object(const char* key) const;

  const nlohmann::json& json() const { return *value_; }
  const std::string& where() const { return where_; }

  /// Throws "where: field "key" is ‹found›, expected ‹expected›".
  [[noreturn]] void refuse(const char* key, const std::string& expected) const;

 private:
  const nlohmann::json* value_;
  std::string where_;
};

}  // namespace crossbill::loader
