// One line of JSON in: an object with text fields, whatever a stranger may have put there.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace crossbill::tools {

/// Keeps the order of a line's fields, so that those we pass through come out as they came in.
using Json = nlohmann::ordered_json;

/// The object that `line` holds. BadLine if it isn't valid JSON (invalid UTF-8 and lone surrogates included),
/// isn't an object, nests deeper than 100 levels or has an object with more than 10,000 fields. A field that
/// occurs twice counts as its last occurrence.
Json parse_json_object(std::string_view line);

/// The string in `object`'s field `name`. BadLine if there is none, naming what is there instead.
const std::string& string_field(const Json& object, std::string_view name);

/// `a "query", "text"`, the field names of an object for a message; long lists and names are shortened.
std::string field_names(const Json& object);

/// "a string", "a number", … for messages.
std::string_view kind_of(const Json& value);

/// As one line of JSON. Never throws: invalid UTF-8 becomes U+FFFD.
std::string to_line(const Json& value);

/// A string as JSON, quotes included; invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// Writes one JSON object field by field, so that a float keeps its shortest form ("0.1", not the digits of
/// the nearest double). A number that is not finite becomes null, for JSON has no NaN.
class JsonObjectWriter {
 public:
  JsonObjectWriter& number(std::string_view name, float value);
  JsonObjectWriter& number(std::string_view name, double value);
  JsonObjectWriter& integer(std::string_view name, long long value);
  JsonObjectWriter& boolean(std::string_view name, bool value);
  JsonObjectWriter& string(std::string_view name, std::string_view value);
  /// `json` is valid JSON already.
  JsonObjectWriter& raw(std::string_view name, std::string_view json);
  std::string take();

 private:
  std::string text_ = "{";
};

/// `[a,b,c]` of values that are JSON already.
template <class Range, class ToJson>
std::string json_array(const Range& values, ToJson to_json) {
  std::string text = "[";
  for (const auto& value : values) {
    if (text.size() > 1) text += ',';
    text += to_json(value);
  }
  return text += ']';
}

}  // namespace crossbill::tools
