// One line of JSON in: an object with text fields, whatever a stranger may have put there.
#include "tools/json_line.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "tools/failures.hpp"
#include "tools/number_format.hpp"

namespace crossbill::tools {
namespace {

// nlohmann parses without recursion but copies and writes with it, so depth is bounded. Ordered objects look
// names up one by one, so their number is bounded as well: a line can't cost quadratic time.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxFields = 10'000;
constexpr std::size_t kNamesShown = 8;
constexpr std::size_t kNameBytesShown = 40;

class LimitWatch {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json&) {
    switch (event) {
      case Json::parse_event_t::object_start:
        fields_.push_back(0);
        check_depth(depth);
        break;
      case Json::parse_event_t::object_end:
        fields_.pop_back();
        break;
      case Json::parse_event_t::array_start:
        check_depth(depth);
        break;
      case Json::parse_event_t::key:
        if (++fields_.back() > kMaxFields) throw BadLine("an object has more than 10000 fields");
        break;
      default:
        break;
    }
    return true;
  }

 private:
  static void check_depth(int depth) {
    if (depth >= kMaxDepth) throw BadLine("JSON nested deeper than 100 levels");
  }

  std::vector<std::size_t> fields_;
};

// nlohmann's message is "[json.exception.…] parse error at line 1, column 9: syntax error while parsing
// object - invalid literal; last read: '…'; expected …". We keep what is wrong and leave out the text read so
// far, which may be megabytes.
std::string reason_in(std::string_view message) {
  const std::size_t dash = message.find(" - ");
  if (dash == std::string_view::npos) return "a value can't be represented";
  std::string_view rest = message.substr(dash + 3);
  const std::size_t read = rest.find("; last read");
  if (read != std::string_view::npos) return std::string(rest.substr(0, read));
  return std::string(rest.substr(0, rest.find("; expected")));
}

}  // namespace

Json parse_json_object(std::string_view line) {
  Json value;
  try {
    value = Json::parse(line.begin(), line.end(), LimitWatch());
  } catch (const Json::parse_error& fault) {
    throw BadLine("not valid JSON at byte " + std::to_string(fault.byte) + ": " + reason_in(fault.what()));
  } catch (const Json::exception&) {
    throw BadLine("not valid JSON: a number is out of range");
  }
  if (!value.is_object()) {
    throw BadLine("a JSON object was expected, found " + std::string(kind_of(value)));
  }
  return value;
}

std::string_view kind_of(const Json& value) {
  if (value.is_string()) return "a string";
  if (value.is_number()) return "a number";
  if (value.is_boolean()) return "a boolean";
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return "null";
}

std::string field_names(const Json& object) {
  if (object.empty()) return "no fields";
  std::string text;
  std::size_t shown = 0;
  for (const auto& field : object.items()) {
    if (shown == kNamesShown) {
      text += " and " + std::to_string(object.size() - shown) + " more";
      break;
    }
    if (shown++ > 0) text += ", ";
    std::string name = field.key().substr(0, kNameBytesShown);
    if (name.size() < field.key().size()) name += "...";
    text += Json(std::move(name)).dump(-1, ' ', true, Json::error_handler_t::ignore);
  }
  return text;
}

const std::string& string_field(const Json& object, std::string_view name) {
  const auto field = object.find(name);
  if (field == object.end()) {
    throw BadLine("no \"" + std::string(name) + "\" field; found " + field_names(object));
  }
  if (!field->is_string()) {
    throw BadLine("\"" + std::string(name) + "\" must be a string, found " + std::string(kind_of(*field)));
  }
  return field->get_ref<const std::string&>();
}

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_string(std::string_view text) {
  return to_line(Json(text));
}

JsonObjectWriter& JsonObjectWriter::raw(std::string_view name, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  text_ += json_string(name);
  text_ += ':';
  text_ += json;
  return *this;
}

JsonObjectWriter& JsonObjectWriter::number(std::string_view name, float value) {
  return raw(name, json_number(value));
}

JsonObjectWriter& JsonObjectWriter::number(std::string_view name, double value) {
  return raw(name, json_number(value));
}

JsonObjectWriter& JsonObjectWriter::integer(std::string_view name, long long value) {
  return raw(name, std::to_string(value));
}

JsonObjectWriter& JsonObjectWriter::boolean(std::string_view name, bool value) {
  return raw(name, value ? "true" : "false");
}

JsonObjectWriter& JsonObjectWriter::string(std::string_view name, std::string_view value) {
  return raw(name, json_string(value));
}

std::string JsonObjectWriter::take() {
  return std::move(text_) + "}";
}

}  // namespace crossbill::tools
