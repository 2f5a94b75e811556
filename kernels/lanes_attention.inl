// Attention of one (pair, head), written once; see lanes_elementwise.inl for how it is included. The
// including file has defined product_f32 before.
//
// Keys and values go into panels, so that both products are those of product_f32: a score sums over head_dim,
// a result over the keys, each ascending with one fma per step. Queries are taken in blocks to keep the
// scratch linear in the length; no row's operations depend on the block it is in. The order per row is:
// scores, their maximum, exp(score − maximum) and its sum, Σ exp·V, and last one division per result.

/// Kᵀ: panel p, row d holds element d of the sixteen keys 16p … 16p+15, zero past `length`.
void pack_keys(const AttentionF32& job, float* panels) {
  for (size_t first = 0; first < job.length; first += kLanes) {
    const size_t here = job.length - first < kLanes ? job.length - first : kLanes;
    for (size_t key = 0; key < kLanes; ++key) {
      const float* source = job.k + (first + key) * job.stride;
      for (size_t d = 0; d < job.head_dim; ++d) {
        panels[d * kLanes + key] = key < here ? source[d] : 0.0f;
      }
    }
    panels += job.head_dim * kLanes;
  }
}

/// V: panel p, row t holds elements 16p … 16p+15 of value t, zero past head_dim.
void pack_values(const AttentionF32& job, float* panels) {
  for (size_t first = 0; first < job.head_dim; first += kLanes) {
    const size_t here = job.head_dim - first < kLanes ? job.head_dim - first : kLanes;
    for (size_t token = 0; token < job.length; ++token) {
      store(panels, load_first(job.v + token * job.stride + first, here));
      panels += kLanes;
    }
  }
}

/// Replaces the first `length` scores of a row by exp(score − maximum) and returns their sum. Columns past
/// `length` don't take part and become 0.
float softmax_numerators(float* scores, size_t length) {
  const size_t whole = length / kLanes * kLanes;
  const size_t rest = length - whole;
  Lanes largest = set_all(scores[0]);
  for (size_t i = 0; i < whole; i += kLanes) {
    largest = max(largest, load(scores + i));
  }
  if (rest != 0) {
    largest = max(largest, first_or(load(scores + whole), rest, largest));
  }
  const Lanes maximum = set_all(max_of_lanes(largest));

  Lanes sum = set_all(0.0f);
  for (size_t i = 0; i < whole; i += kLanes) {
    const Lanes numerator = exp_lanes(sub(load(scores + i), maximum));
    store(scores + i, numerator);
    sum = add(sum, numerator);
  }
  if (rest != 0) {
    const Lanes numerator = first_or(exp_lanes(sub(load(scores + whole), maximum)), rest, set_all(0.0f));
    store(scores + whole, numerator);
    sum = add(sum, numerator);
  }
  return sum_of_lanes(sum);
}

/// out[0 … n) = weighted[0 … n)/sum.
void divide_row(const float* weighted, float sum, float* out, size_t n) {
  const Lanes divisor = set_all(sum);
  const size_t whole = n / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    store(out + i, div(load(weighted + i), divisor));
  }
  if (whole < n) {
    store_first(out + whole, div(load(weighted + whole), divisor), n - whole);
  }
}

void attention_f32(const AttentionF32& job) {
  const size_t score_columns = padded(job.length);
  const size_t value_columns = padded(job.head_dim);
  float* keys = job.scratch;
  float* values = keys + score_columns * job.head_dim;
  float* scores = values + value_columns * job.length;
  float* weighted = scores + kQueryBlock * score_columns;

  pack_keys(job, keys);
  pack_values(job, values);
  for (size_t first = 0; first < job.queries; first += kQueryBlock) {
    const size_t rows = job.queries - first < kQueryBlock ? job.queries - first : kQueryBlock;
    product_f32({job.q + first * job.stride, job.stride, keys, nullptr, scores, score_columns, rows,
                 job.length, job.head_dim});
    float sums[kQueryBlock];
    for (size_t row = 0; row < rows; ++row) {
      sums[row] = softmax_numerators(scores + row * score_columns, job.length);
    }
    product_f32(
        {scores, score_columns, values, nullptr, weighted, value_columns, rows, job.head_dim, job.length});
    for (size_t row = 0; row < rows; ++row) {
      divide_row(weighted + row * value_columns, sums[row], job.out + (first + row) * job.out_stride,
                 job.head_dim);
    }
  }
}
