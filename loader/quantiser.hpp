// Symmetric s8 weights (docs/design.md, "Numbers").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace crossbill::loader {

/// Quantises one output channel of a product: w[k] ≈ scale·q[k], q[k] = w[k]/scale rounded to nearest, ties
/// to even. The scale is the smallest positive float for which |q| ≤ 127 and every neighbour pair (2i, 2i+1)
/// of equal sign has |q0|+|q1| ≤ 128, so that 255·128 fits s16 and vpmaddubsw is exact. A row of zeros gets
/// scale 0. `row` must be finite. `q` has row.size() elements. Returns the scale.
float quantise_channel(std::span<const float> row, std::span<std::int8_t> q);

/// The same without the pair bound, for rows that no product reads (embeddings): |q| ≤ 127 only.
float quantise_row(std::span<const float> row, std::span<std::int8_t> q);

/// Whether q keeps |q| ≤ 127 and the pair bound.
bool within_pair_bound(std::span<const std::int8_t> q);

}  // namespace crossbill::loader
