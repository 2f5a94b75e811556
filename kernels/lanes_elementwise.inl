// Element-wise functions over sixteen lanes, written once. Included by each instruction set's file, inside
// its anonymous namespace, after the file has said what `Lanes` and its operations are; that every set runs
// the same operations in the same order is why all sets give the same bits.
//
// Coefficients are minimax fits (tools/fit_polynomials.py). min(a, b) is "a < b ? a : b" and max(a, b) is
// "a > b ? a : b", as the x86 instructions have it: an unordered comparison yields the second operand, so
// that limits are written first and a NaN second comes through.

/// exp(x) within 2 ulp for x in [−64, 88.73], +inf above, +0 below −64 so that a softmax never makes
/// denormals.
inline Lanes exp_lanes(Lanes x) {
  const Lanes log2_e = set_all(0x1.715476p+0f);
  const Lanes minus_ln2_high = set_all(-0x1.62e4p-1f);  // few bits: n·ln2_high is exact
  const Lanes minus_ln2_low = set_all(-0x1.7f7d1cp-20f);
  // Adding 1.5·2²³ leaves the nearest integer in the low bits of the sum.
  const Lanes rounder = set_all(0x1.8p+23f);
  const Lanes limited = min(set_all(89.0f), max(set_all(-65.0f), x));

  // x = n·ln 2 + r with |r| ≤ ln(2)/2, then exp(x) = 2ⁿ·exp(r).
  const Lanes shifted = fma(limited, log2_e, rounder);
  const Lanes n = sub(shifted, rounder);
  const Lanes r = fma(n, minus_ln2_low, fma(n, minus_ln2_high, limited));
  // exp(r) = 1 + (r + r²·q(r)).
  Lanes q = set_all(0x1.6a146ep-10f);
  q = fma(q, r, set_all(0x1.12399ep-7f));
  q = fma(q, r, set_all(0x1.5559p-5f));
  q = fma(q, r, set_all(0x1.555492p-3f));
  q = fma(q, r, set_all(0x1.fffffcp-2f));
  const Lanes exp_r = add(set_all(1.0f), fma(mul(r, r), q, r));
  // Scaled by 2ⁿ⁻¹ and then by 2: 2¹²⁸ itself isn't a float, but results just below it are.
  const Lanes result = mul(mul(exp_r, half_power_of_two(shifted)), set_all(2.0f));
  return select_less(x, set_all(-64.0f), set_all(0.0f), result);
}

/// 1/(1 + exp(−x)). The argument of exp is positive where the result is small, so that exp's flush to zero
/// doesn't show: results are accurate down to the smallest normal number, and 0 below x = −88.8.
inline Lanes sigmoid_lanes(Lanes x) {
  const Lanes one = set_all(1.0f);
  return div(one, add(one, exp_lanes(sub(set_all(0.0f), x))));
}

/// tanh(x): an odd polynomial near 0, where 1 − 2/(exp(2|x|) + 1) would cancel.
inline Lanes tanh_lanes(Lanes x) {
  const Lanes size = magnitude(x);
  const Lanes square = mul(size, size);
  Lanes q = set_all(-0x1.75e1bep-8f);
  q = fma(q, square, set_all(0x1.522696p-6f));
  q = fma(q, square, set_all(-0x1.b83c58p-5f));
  q = fma(q, square, set_all(0x1.110726p-3f));
  q = fma(q, square, set_all(-0x1.555532p-2f));
  const Lanes near_zero = fma(mul(square, size), q, size);

  const Lanes one = set_all(1.0f);
  const Lanes two = set_all(2.0f);
  const Lanes far = sub(one, div(two, add(exp_lanes(add(size, size)), one)));
  return with_sign_of(x, select_less(size, set_all(0.625f), near_zero, far));
}

/// x·Φ(x) = max(x, 0) − T(|x|) with the tail T(a) = a·Φ(−a) = a·exp(−a²/2)·g(1/(1 + 0.4a)), g a polynomial.
/// Nothing cancels: T is at most 0.17, and x > 0 loses half an ulp to the subtraction.
inline Lanes gelu_erf_lanes(Lanes x) {
  const Lanes one = set_all(1.0f);
  // Beyond 12 the tail is 0 in f32 (exp flushes at −64); the limit keeps ∞·0 out.
  const Lanes a = min(set_all(12.0f), magnitude(x));
  const Lanes t = div(one, fma(a, set_all(0.4f), one));
  Lanes g = set_all(0x1.cdd03p-5f);
  g = fma(g, t, set_all(-0x1.04aa52p-2f));
  g = fma(g, t, set_all(0x1.5b81eep-2f));
  g = fma(g, t, set_all(0x1.bbfd56p-7f));
  g = fma(g, t, set_all(0x1.821ddap-3f));
  g = fma(g, t, set_all(0x1.40ff16p-3f));
  g = mul(g, t);
  const Lanes tail = mul(mul(a, exp_lanes(mul(mul(a, a), set_all(-0.5f)))), g);
  return sub(max(set_all(0.0f), x), tail);
}

/// 0.5·x·(1 + tanh(u)) with u = √(2/π)·(x + 0.044715·x³), written as x/(1 + exp(−2u)).
inline Lanes gelu_tanh_lanes(Lanes x) {
  const Lanes one = set_all(1.0f);
  const Lanes minus_2_sqrt_2_over_pi = set_all(-0x1.988454p+0f);
  // Below −100 the result is −0 in any case; the limit keeps −∞/∞ out.
  const Lanes limited = max(set_all(-100.0f), x);
  const Lanes cube = mul(mul(limited, limited), limited);
  const Lanes minus_2u = mul(fma(cube, set_all(0.044715f), limited), minus_2_sqrt_2_over_pi);
  return div(limited, add(one, exp_lanes(minus_2u)));
}

inline Lanes relu_lanes(Lanes x) {
  return max(set_all(0.0f), x);
}

/// Applies a function to x[0 … n) in place; the last, partial group touches nothing beyond n.
template <Lanes (*function)(Lanes)>
void map_in_place(float* x, size_t n) {
  const size_t whole = n / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    store(x + i, function(load(x + i)));
  }
  if (whole < n) {
    store_first(x + whole, function(load_first(x + whole, n - whole)), n - whole);
  }
}
