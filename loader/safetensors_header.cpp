#include "loader/safetensors_header.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crossbill/error.hpp"
#include "loader/message.hpp"

namespace crossbill::loader {
namespace {

/// Takes the parser's events. The grammar is three levels deep, so a state machine refuses anything else at
/// the first wrong event; hostile nesting never gets deeper than that.
class HeaderHandler {
 public:
  explicit HeaderHandler(const std::string& file) : file_(file) {}

  // The events of nlohmann::json_sax.
  bool null() { unexpected("null"); }
  bool boolean(bool /*value*/) { unexpected("true or false"); }
  bool number_integer(std::int64_t /*value*/) { unexpected("a negative number"); }
  bool number_float(double /*value*/, const std::string& /*text*/) {
    unexpected("a number that is not whole");
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::shape) {
      if (entry_.shape.size() == kMostDimensions) {
        fail("has more than " + std::to_string(kMostDimensions) + " dimensions");
      }
      entry_.shape.push_back(value);
    } else if (state_ == State::offsets && offsets_ < 2) {
      entry_.data_offsets[offsets_++] = value;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::dtype) {
      entry_.dtype = std::move(value);
      state_ = State::entry;
    } else if (state_ != State::metadata) {
      unexpected("a string");
    }
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    if (state_ == State::start) {
      state_ = State::names;
    } else if (state_ == State::entry_value) {
      state_ = State::entry;
    } else if (state_ == State::metadata_value) {
      state_ = State::metadata;
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& value) {
    if (state_ == State::names) {
      const bool metadata = value == "__metadata__";
      state_ = metadata ? State::metadata_value : State::entry_value;
      entry_ = {};
      entry_.name = std::move(value);
      if (metadata && std::exchange(metadata_seen_, true)) {
        fail("stands twice in the header");
      }
      seen_ = 0;
      offsets_ = 0;
    } else if (state_ == State::entry) {
      take_field(value);
    }
    return true;
  }

  bool end_object() {
    if (state_ == State::entry) {
      if (seen_ != kAllFields) {
        fail("lacks one of dtype, shape and data_offsets");
      }
      entries_.push_back(std::move(entry_));
      state_ = State::names;
    } else {
      state_ = state_ == State::metadata ? State::names : State::end;
    }
    return true;
  }

  bool start_array(std::size_t /*size*/) {
    if (state_ == State::shape_value) {
      state_ = State::shape;
    } else if (state_ == State::offsets_value) {
      state_ = State::offsets;
    } else {
      unexpected("a list");
    }
    return true;
  }

  bool end_array() {
    if (state_ == State::offsets && offsets_ != 2) {
      fail("has data_offsets that are not two numbers");
    }
    state_ = State::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) {
    throw Error(ErrorCode::bad_model,
                file_ + ": the header is not valid JSON at its byte " + std::to_string(position));
  }

  std::vector<SafetensorsHeaderEntry> take() { return std::move(entries_); }

 private:
  enum class State {
    start,
    names,
    metadata_value,
    metadata,
    entry_value,
    entry,
    dtype,
    shape_value,
    shape,
    offsets_value,
    offsets,
    end
  };
  static constexpr std::size_t kMostDimensions = 16;
  static constexpr unsigned kDtype = 1, kShape = 2, kOffsets = 4, kAllFields = 7;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_model, file_ + ": tensor " + in_quotes(entry_.name) + " " + what);
  }

  [[noreturn]] void unexpected(const std::string& what) const {
    if (state_ == State::start) {
      throw Error(ErrorCode::bad_model, file_ + ": the header is " + what + ", expected a JSON object");
    }
    fail("has " + what + " in its header entry where the format has none");
  }

  void take_field(const std::string& field) {
    unsigned bit = 0;
    if (field == "dtype") {
      bit = kDtype;
      state_ = State::dtype;
    } else if (field == "shape") {
      bit = kShape;
      state_ = State::shape_value;
    } else if (field == "data_offsets") {
      bit = kOffsets;
      state_ = State::offsets_value;
    } else {
      fail("has an unknown field " + in_quotes(field) + " in its header entry");
    }
    if ((seen_ & bit) != 0) {
      fail("has the field " + in_quotes(field) + " twice");
    }
    seen_ |= bit;
  }

  const std::string& file_;
  State state_ = State::start;
  SafetensorsHeaderEntry entry_;
  unsigned seen_ = 0;
  std::size_t offsets_ = 0;
  bool metadata_seen_ = false;
  std::vector<SafetensorsHeaderEntry> entries_;
};

}  // namespace

std::vector<SafetensorsHeaderEntry> parse_safetensors_header(std::string_view json, const std::string& file) {
  HeaderHandler handler(file);
  nlohmann::json::sax_parse(json, &handler);
  return handler.take();
}

}  // namespace crossbill::loader
