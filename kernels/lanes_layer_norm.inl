// LayerNorm over sixteen lanes, written once; see lanes_elementwise.inl for how it is included.
//
// The first element of the row is taken off every element before anything is summed. Mean and variance don't
// mind the shift, but a row of equal values then has deviations of exactly 0 and gives beta, and rows far
// from zero lose no digits.

/// One row. `y` holds the sum of x and residual between the passes.
void layer_norm_row(const LayerNormF32& job, const float* x, const float* residual, float* y) {
  const size_t whole = job.n / kLanes * kLanes;
  const size_t rest = job.n - whole;
  const float count = static_cast<float>(job.n);
  const Lanes shift = set_all(residual != nullptr ? x[0] + residual[0] : x[0]);

  Lanes sum = set_all(0.0f);
  for (size_t i = 0; i < whole; i += kLanes) {
    const Lanes value = residual != nullptr ? add(load(x + i), load(residual + i)) : load(x + i);
    store(y + i, value);
    sum = add(sum, sub(value, shift));
  }
  if (rest != 0) {
    Lanes value = load_first(x + whole, rest);
    if (residual != nullptr) {
      value = add(value, load_first(residual + whole, rest));
    }
    store(y + whole, value);
    sum = add(sum, first_or(sub(value, shift), rest, set_all(0.0f)));
  }
  const Lanes mean = set_all(sum_of_lanes(sum) / count);  // of the shifted row

  Lanes squares = set_all(0.0f);
  for (size_t i = 0; i < whole; i += kLanes) {
    const Lanes deviation = sub(sub(load(y + i), shift), mean);
    squares = fma(deviation, deviation, squares);
  }
  if (rest != 0) {
    const Lanes deviation = first_or(sub(sub(load(y + whole), shift), mean), rest, set_all(0.0f));
    squares = fma(deviation, deviation, squares);
  }
  const Lanes variance = set_all(sum_of_lanes(squares) / count);
  const Lanes inverse = div(set_all(1.0f), square_root(add(variance, set_all(job.epsilon))));

  for (size_t i = 0; i < whole; i += kLanes) {
    const Lanes normal = mul(sub(sub(load(y + i), shift), mean), inverse);
    store(y + i, fma(normal, load(job.gamma + i), load(job.beta + i)));
  }
  if (rest != 0) {
    const Lanes normal = mul(sub(sub(load(y + whole), shift), mean), inverse);
    const Lanes value = fma(normal, load_first(job.gamma + whole, rest), load_first(job.beta + whole, rest));
    store(y + whole, first_or(value, rest, set_all(0.0f)));
  }
}

void layer_norm_f32(const LayerNormF32& job) {
  for (size_t row = 0; row < job.rows; ++row) {
    const size_t offset = row * job.stride;
    layer_norm_row(job, job.x + offset, job.residual != nullptr ? job.residual + offset : nullptr,
                   job.y + offset);
  }
}
