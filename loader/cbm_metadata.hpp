// The JSON section of a .cbm file: configuration, tokenizer settings, how the weights were made.
#pragma once

#include <string>
#include <string_view>

#include "loader/config.hpp"
#include "loader/packing.hpp"
#include "tokenizer/settings.hpp"

namespace crossbill::loader {

struct CbmMetadata {
  Config config;
  tokenizer::Settings tokenizer_settings;
  PackedWeights weights = PackedWeights::int8;
  std::string source_sha256;  ///< 64 hexadecimal digits, or empty
};

/// The same bytes for the same metadata.
std::string write_cbm_metadata(const CbmMetadata& metadata);

/// Error bad_model beginning with `where` and naming the field.
CbmMetadata parse_cbm_metadata(std::string_view json, const std::string& where);

}  // namespace crossbill::loader
