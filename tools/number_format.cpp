// Numbers as text: exact where a program reads them, short where a person does.
#include "tools/number_format.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <system_error>

namespace crossbill::tools {
namespace {

template <class Float>
std::string shortest_of(Float value) {
  if (std::isnan(value)) return "nan";  // without a sign: a NaN's sign says nothing
  char digits[64];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
  return std::string(digits, end.ptr);
}

}  // namespace

std::string shortest(float value) {
  return shortest_of(value);
}
std::string shortest(double value) {
  return shortest_of(value);
}

std::string json_number(float value) {
  return std::isfinite(value) ? shortest_of(value) : "null";
}
std::string json_number(double value) {
  return std::isfinite(value) ? shortest_of(value) : "null";
}

std::string fixed(double value, int decimals) {
  if (std::isnan(value)) return "nan";
  char digits[400];  // the largest double has 309 digits before the point
  const std::to_chars_result end =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed, decimals);
  return std::string(digits, end.ptr);
}

std::string grouped(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string byte_size(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 999.5 && unit + 1 < std::size(kUnits)) {
    amount /= 1000;
    ++unit;
  }
  return fixed(amount, unit == 0 || amount >= 99.95 ? 0 : 1) + " " + kUnits[unit];
}

std::string counted(std::uint64_t count, const std::string& singular) {
  return grouped(count) + " " + singular + (count == 1 ? "" : "s");
}

}  // namespace crossbill::tools
