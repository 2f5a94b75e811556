#include "loader/strict_json.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/message.hpp"

namespace crossbill::loader {
namespace {

constexpr int kDeepest = 64;

/// What stands in the file, short enough for a sentence.
std::string found(const nlohmann::json* value) {
  if (value == nullptr) {
    return "missing";
  }
  if (value->is_object() || value->is_array()) {
    return value->is_object() ? "an object" : "a list";
  }
  return value->is_string() ? in_quotes(value->get_ref<const std::string&>()) : value->dump();
}

}  // namespace

nlohmann::json parse_strict_json(std::string_view text, std::string_view name) {
  using Event = nlohmann::json::parse_event_t;
  const std::string where(name);
  std::vector<std::unordered_set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Event event, nlohmann::json& value) {
    if (depth > kDeepest) {
      throw Error(ErrorCode::bad_model,
                  where + ": JSON is nested more than " + std::to_string(kDeepest) + " deep");
    }
    if (event == Event::object_start) {
      keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        throw Error(ErrorCode::bad_model,
                    where + ": the key " + in_quotes(key) + " stands twice in one object");
      }
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorCode::bad_model, where + ": not valid JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {  // a number beyond all floats
    throw Error(ErrorCode::bad_model, where + ": not valid JSON, a number is out of range");
  }
}

JsonFields::JsonFields(const nlohmann::json& value, std::string where)
    : value_(&value), where_(std::move(where)) {
  if (!value.is_object()) {
    throw Error(ErrorCode::bad_model, where_ + ": " + found(&value) + " stands where an object should");
  }
}

const nlohmann::json* JsonFields::find(const char* key) const {
  const auto at = value_->find(key);
  return at == value_->end() || at->is_null() ? nullptr : &*at;
}

void JsonFields::refuse(const char* key, const std::string& expected) const {
  throw Error(ErrorCode::bad_model,
              where_ + ": field \"" + key + "\" is " + found(find(key)) + ", expected " + expected);
}

std::optional<std::size_t> JsonFields::optional_integer(const char* key, std::size_t least,
                                                        std::size_t most) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() < least ||
      value->get<std::uint64_t>() > most) {
    refuse(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<std::size_t>(value->get<std::uint64_t>());
}

std::optional<bool> JsonFields::optional_boolean(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_boolean()) {
    refuse(key, "true or false");
  }
  return value->get<bool>();
}

std::optional<std::string> JsonFields::optional_text(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_string()) {
    refuse(key, "a string");
  }
  return value->get<std::string>();
}

std::optional<double> JsonFields::optional_number(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_number()) {
    refuse(key, "a number");
  }
  return value->get<double>();
}

std::optional<JsonFields> JsonFields::optional_object(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  return JsonFields(*value, where_ + ": field \"" + key + "\"");
}

std::size_t JsonFields::integer(const char* key, std::size_t least, std::size_t most) const {
  const auto value = optional_integer(key, least, most);
  if (!value) {
    refuse(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

bool JsonFields::boolean(const char* key) const {
  const auto value = optional_boolean(key);
  if (!value) {
    refuse(key, "true or false");
  }
  return *value;
}

std::string JsonFields::text(const char* key) const {
  auto value = optional_text(key);
  if (!value) {
    refuse(key, "a string");
  }
  return *std::move(value);
}

JsonFields JsonFields::object(const char* key) const {
  auto value = optional_object(key);
  if (!value) {
    refuse(key, "an object");
  }
  return *std::move(value);
}

const nlohmann::json& JsonFields::array(const char* key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr || !value->is_array()) {
    refuse(key, "a list");
  }
  return *value;
}

}  // namespace crossbill::loader
