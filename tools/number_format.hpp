// Numbers as text: exact where a program reads them, short where a person does.
#pragma once

#include <cstdint>
#include <string>

namespace crossbill::tools {

/// The shortest decimal that reads back to the same bits; "nan", "inf" and "-inf" for the rest.
std::string shortest(float value);
std::string shortest(double value);

/// The same for JSON, which knows neither NaN nor infinity: they become "null".
std::string json_number(float value);
std::string json_number(double value);

/// With a fixed number of decimals, for a column of a table.
std::string fixed(double value, int decimals);

/// "1,234,567".
std::string grouped(std::uint64_t value);

/// "17.4 MB": decimal units, as drives and downloads are labelled.
std::string byte_size(std::uint64_t bytes);

/// "3 pairs", "1 pair".
std::string counted(std::uint64_t count, const std::string& singular);
/// The verb that goes with so many.
inline const char* was_or_were(std::uint64_t count) {
  return count == 1 ? "was" : "were";
}

}  // namespace crossbill::tools
