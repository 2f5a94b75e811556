// Opens a packed model, docs/format.md.
#pragma once

#include <memory>
#include <string>

#include "loader/cbm_sections.hpp"
#include "loader/file_bytes.hpp"
#include "loader/model.hpp"

namespace crossbill::loader {

/// `file` is 64-byte aligned; its owner may be null. `name` stands in messages. Everything is checked before
/// it is used: table, checksums, metadata, shapes, and of s8 panels the column sums and the pair bound. Error
/// bad_model naming the section, or unsupported_model for another version.
std::shared_ptr<const Model> open_cbm(FileBytes file, const std::string& name,
                                      Checksums checksums = Checksums::verify);

}  // namespace crossbill::loader
