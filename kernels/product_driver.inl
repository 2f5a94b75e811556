// Divides a product into tiles. Included by an instruction set's file inside its anonymous namespace, after
// the file has defined kTileRows, kTilePanels and kMicroKernels[panels − 1][rows − 1].
//
// Loop order: a block of rows of A, small enough to stay in the second-level cache; for each group of panels
// the tiles down the block, so that the panels are read from memory once per block and from the caches for
// every tile. A tile sums over the whole of k in registers, so no order of the loops changes a bit.

/// Floats of A in a block of rows: 256 KiB.
constexpr size_t kBlockFloats = 65536;

/// Rows are spread evenly over the fewest tiles that hold them: 13 rows in tiles of at most 8 are 7 + 6, for
/// a tile of a single row would wait for its few accumulators most of the time.
inline size_t rows_of_next_tile(size_t remaining) {
  const size_t tiles = (remaining + kTileRows - 1) / kTileRows;
  return (remaining + tiles - 1) / tiles;
}

/// Rows first … last − 1 of A times all panels.
void multiply_block(const ProductF32& job, size_t first, size_t last) {
  const size_t columns = padded(job.n);
  for (size_t column = 0; column < columns;) {
    const size_t panels_left = (columns - column) / kLanes;
    const size_t panels = panels_left < kTilePanels ? panels_left : kTilePanels;
    const float* panel = job.b + column * job.k;
    const float* bias = job.bias != nullptr ? job.bias + column : nullptr;
    for (size_t row = first; row < last;) {
      const size_t rows = rows_of_next_tile(last - row);
      kMicroKernels[panels - 1][rows - 1](job.a + row * job.a_stride, job.a_stride, panel, bias,
                                          job.c + row * job.c_stride + column, job.c_stride, job.k);
      row += rows;
    }
    column += panels * kLanes;
  }
}

void product_f32(const ProductF32& job) {
  size_t block = kTileRows;
  while ((block + kTileRows) * job.k <= kBlockFloats && block < job.m) {
    block += kTileRows;
  }
  for (size_t first = 0; first < job.m; first += block) {
    const size_t rows = job.m - first < block ? job.m - first : block;
    multiply_block(job, first, first + rows);
  }
}
