#include "tokenizer/json_field.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "crossbill/error.hpp"

namespace crossbill::tokenizer {
namespace {

constexpr int kDeepest = 32;
constexpr std::size_t kLongestQuote = 80;

std::string described(const nlohmann::json& value) {
  if (value.is_object()) {
    return "an object";
  }
  if (value.is_array()) {
    return "a list of " + std::to_string(value.size());
  }
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= kLongestQuote ? text : text.substr(0, kLongestQuote) + "…";
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view name) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::unordered_set<std::string>> open_objects;
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorCode::bad_model, std::string(name) + ": " + reason);
  };
  const auto watch = [&](int depth, Event event, nlohmann::json& value) {
    if (depth > kDeepest) {
      refuse("nested more than " + std::to_string(kDeepest) + " deep");
    }
    if (event == Event::object_start) {
      open_objects.emplace_back();
    } else if (event == Event::object_end) {
      open_objects.pop_back();
    } else if (event == Event::key &&
               !open_objects.back().insert(value.get_ref<const std::string&>()).second) {
      refuse("the key " + described(value) + " stands twice in one object");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    refuse("not valid JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    refuse("a number is too large even for floating-point");
  }
  return nullptr;
}

std::optional<JsonField> JsonField::find(const char* key) const {
  const auto& members = object();
  const auto found = members.find(key);
  if (found == members.end() || found->second.is_null()) {
    return std::nullopt;
  }
  return JsonField(found->second, where_ + ": " + key);
}

JsonField JsonField::at(const char* key) const {
  const auto& members = object();
  const auto found = members.find(key);
  if (found == members.end()) {
    throw Error(ErrorCode::bad_model, where_ + ": the field \"" + key + "\" is missing");
  }
  return {found->second, where_ + ": " + key};
}

std::vector<JsonField> JsonField::elements() const {
  if (!value_->is_array()) {
    refuse("a list");
  }
  std::vector<JsonField> fields;
  fields.reserve(value_->size());
  for (const auto& element : *value_) {
    fields.emplace_back(element, where_ + "[" + std::to_string(fields.size()) + "]");
  }
  return fields;
}

const std::string& JsonField::text() const {
  if (!value_->is_string()) {
    refuse("a string");
  }
  return value_->get_ref<const std::string&>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) {
    refuse("true or false");
  }
  return value_->get<bool>();
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  const auto expected = [&] {
    return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
  };
  if (!value_->is_number_integer()) {
    refuse(expected());
  }
  // An unsigned value beyond the signed range would turn negative in get().
  const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX;
  const auto number = value_->get<std::int64_t>();
  if (huge || number < least || number > most) {
    refuse(expected());
  }
  return number;
}

double JsonField::number() const {
  if (!value_->is_number()) {
    refuse("a number");
  }
  return value_->get<double>();
}

const nlohmann::json::object_t& JsonField::object() const {
  if (!value_->is_object()) {
    refuse("an object");
  }
  return value_->get_ref<const nlohmann::json::object_t&>();
}

void JsonField::refuse(const std::string& expected) const {
  throw Error(ErrorCode::bad_model, where_ + " is " + described(*value_) + ", but should be " + expected);
}

}  // namespace crossbill::tokenizer
