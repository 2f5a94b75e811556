// How many rows the next tile takes. Included like lanes_elementwise.inl; the file has defined kTileRows.

/// Rows are spread evenly over the fewest tiles that hold them: 13 rows in tiles of at most 12 are 7 + 6, for
/// a tile of a single row would wait for its two accumulators most of the time.
inline size_t rows_of_next_tile(size_t remaining) {
  const size_t tiles = (remaining + kTileRows - 1) / kTileRows;
  return (remaining + tiles - 1) / tiles;
}
