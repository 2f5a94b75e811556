#!/usr/bin/env python3
"""Fits the polynomials of kernels/lanes_elementwise.inl (needs the mpmath package) and prints them for C++.

Each is a minimax fit by the Remez exchange: the largest weighted error over the interval is as small as the
degree allows. The error printed is that of the coefficients rounded to f32, evaluated exactly.
"""
import struct

from mpmath import cos, erfc, exp, log, lu_solve, matrix, mp, mpf, pi, sqrt, tanh

mp.dps = 40


def to_f32(x):
    return struct.unpack("<f", struct.pack("<f", float(x)))[0]


def evaluate(coefficients, x):
    return sum(c * x**power for power, c in enumerate(coefficients))


def exchange_points(errors, count):
    """Indices of `count` extremes of alternating sign, or None if there are fewer."""
    picked = []
    for i, error in enumerate(errors):
        if picked and errors[picked[-1]] * error > 0:
            if abs(error) > abs(errors[picked[-1]]):
                picked[-1] = i
        else:
            picked.append(i)
    while len(picked) > count:
        picked.pop(0 if abs(errors[picked[0]]) < abs(errors[picked[-1]]) else -1)
    return picked if len(picked) == count else None


def minimax(function, weight, degree, low, high, rounds=10, grid=500):
    """Coefficients of the polynomial p that makes max |function - p|·weight smallest."""
    count = degree + 2
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    xs = [low + (high - low) * mpf(i) / grid for i in range(grid + 1)]
    for _ in range(rounds):
        system, right = matrix(count, count), matrix(count, 1)
        for row, x in enumerate(points):
            for power in range(degree + 1):
                system[row, power] = x**power
            system[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = function(x)
        coefficients = list(lu_solve(system, right))[: degree + 1]
        errors = [(function(x) - evaluate(coefficients, x)) * weight(x) for x in xs]
        picked = exchange_points(errors, count)
        if picked is None:
            break
        points = [xs[i] for i in picked]
    return coefficients


def fit(name, function, weight, degree, low, high):
    """Prints f32 coefficients, the highest power first as Horner's scheme wants them, and the error."""
    rounded = [mpf(to_f32(c)) for c in minimax(function, weight, degree, low, high)]
    worst = max(abs(function(x) - evaluate(rounded, x)) * weight(x)
                for x in (low + (high - low) * mpf(i) / 2000 for i in range(2001)))
    print(f"{name}: error 2^{float(log(worst, 2)):.1f}")
    for c in reversed(rounded):
        mantissa, exponent = float(c).hex().split("p")
        print(f"  set_all({mantissa.rstrip('0')}p{exponent}f)")


def main():
    half_ln2 = log(mpf(2)) / 2 + mpf("1e-4")
    # The interval isn't quite symmetric, so that no grid point is 0, where the quotient isn't defined.
    fit("exp: q of exp(r) = 1 + r + r^2 q(r), relative to exp(r)",
        lambda r: (exp(r) - 1 - r) / r**2, lambda r: r**2 / exp(r), 4, -half_ln2, half_ln2 * mpf("0.999"))

    fit("tanh: q of tanh(x) = x + x^3 q(x^2) below 0.625, relative",
        lambda u: (tanh(sqrt(u)) / sqrt(u) - 1) / u, lambda u: u * sqrt(u) / tanh(sqrt(u)), 4,
        mpf("1e-6"), mpf("0.625") ** 2)

    slope = mpf(to_f32(0.4))

    def tail_factor(t):
        a = (1 / t - 1) / slope
        return exp(a * a / 2) * erfc(a / sqrt(mpf(2))) / 2 / t

    def tail_weight(t):  # of the tail's absolute error, but near a = 0 of the relative one
        a = (1 / t - 1) / slope
        return (a + mpf("0.25")) * exp(-a * a / 2) * t

    fit("gelu: g(t)/t of a Phi(-a) = a exp(-a^2/2) g(t), t = 1/(1 + 0.4 a), absolute",
        tail_factor, tail_weight, 5, 1 / (1 + slope * 12), mpf(1))


if __name__ == "__main__":
    main()
