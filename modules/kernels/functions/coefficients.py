# SPDX-License-Identifier: Apache-2.0
"""Writes coefficients.h beside it: the polynomials and tables of the functions here.

    python3 coefficients.py && clang-format-14 -i coefficients.h

It needs mpmath (Debian: python3-mpmath).
The polynomials have the smallest greatest error, by Remez' exchange. The rest are the digits of constants.
"""
import pathlib

from mpmath import mp, mpf

mp.dps = 60


def fit(function, low, high, count, weight=lambda x: 1):
    """`count` coefficients for `function` in powers of x. The error times `weight` is to be small."""
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / count) for i in range(count + 1)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (40 * count)) for i in range(40 * count + 1)]
    values = [function(x) for x in grid]
    weights = [weight(x) for x in grid]
    for _ in range(6):
        rows = mp.matrix(count + 1, count + 1)
        right = mp.matrix(count + 1, 1)
        for i, x in enumerate(nodes):
            for k in range(count):
                rows[i, k] = x**k
            rows[i, count] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = mp.lu_solve(rows, right)
        of = [solution[k] for k in range(count)]
        errors = [(mp.polyval(of[::-1], x) - v) * w for x, v, w in zip(grid, values, weights)]
        # The extreme of each run of errors of one sign.
        extremes = []
        for i, error in enumerate(errors):
            if extremes and (errors[extremes[-1]] > 0) == (error > 0):
                if abs(error) > abs(errors[extremes[-1]]):
                    extremes[-1] = i
            else:
                extremes.append(i)
        while len(extremes) > count + 1:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        if len(extremes) < count + 1:
            break
        nodes = [grid[i] for i in extremes]
    print(f"    largest error 2^{float(mp.log(max(abs(e) for e in errors), 2)):.1f}")
    return of


def head(value, bits):
    """`value` cut to `bits` binary digits."""
    scale = mpf(2) ** (bits - 1 - mp.floor(mp.log(abs(value), 2)))
    return mp.floor(abs(value) * scale) / scale * mp.sign(value)


def text(value):
    return repr(float(value))


def pair(value):
    high = mpf(float(value))
    return high, value - high


lines = []


def constant(name, value):
    lines.append(f"constexpr double {name} = {text(value)};")


def parts(name, value, *bits):
    """Cuts `value` to so many bits, then the rest, and the last part holds what remains."""
    listed = []
    for count in bits:
        listed.append(head(value, count))
        value -= listed[-1]
    listed.append(value)
    array(name, listed)


def array(name, values, kind="double", written=text):
    lines.append(f"constexpr {kind} {name}[] = {{{', '.join(written(v) for v in values)}}};")


def comment(words):
    lines.append(f"\n// {words}")


def series(function, terms=40):
    """The Taylor series of function(0), function(1), ... as a function of x: exact enough for small x."""
    return lambda x: mp.fsum(function(k) * x**k for k in range(terms))


part = mp.ln(2) / 128 * mpf("1.001")
comment("(exp(r) - 1 - r) / r^2 and (2^r - 1) / r for |r| <= log(2) / 128 and 1 / 128; the latter for floats.")
array("kExp", fit(series(lambda k: 1 / mp.factorial(k + 2)), -part, part, 5))
array("kExp2", fit(series(lambda k: mp.ln(2) ** (k + 1) / mp.factorial(k + 1)), -mpf(1) / 127, mpf(1) / 127, 3))
comment("log(2) / 64. The first part times 2^17 is exact.")
parts("kLn2Part", mp.ln(2) / 64, 35)
comment("The first part times 2^11 is exact.")
parts("kLn2", mp.ln(2), 40)
constant("kWholeLn2", mp.ln(2))
constant("kLog2E", 1 / mp.ln(2))

comment("(log(1 + t) - t + t^2 / 2) / t^3 for |t| <= 2^-7.")
array("kLog1p", fit(series(lambda k: (-1) ** k / mpf(k + 3), 60), -mpf(2) ** -7, mpf(2) ** -7, 6))
comment("The same for floats.")
array("kLog1pOfFloat", fit(series(lambda k: (-1) ** k / mpf(k + 3), 60), -mpf(2) ** -7, mpf(2) ** -7, 3))
quarter = (mp.pi / 4 * mpf("1.0001")) ** 2
comment("(sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 as functions of r^2, for |r| <= pi / 4.")


def sin_and_cos(name, count):
    sin = fit(series(lambda k: (-1) ** (k + 1) / mp.factorial(2 * k + 3)), 0, quarter, count)
    cos = fit(series(lambda k: (-1) ** k / mp.factorial(2 * k + 4)), 0, quarter, count)
    rows = ", ".join("{" + ", ".join(map(text, row)) + "}" for row in (sin, cos))
    lines.append(f"constexpr double {name}[2][{count}] = {{{rows}}};")


sin_and_cos("kSinCos", 6)
comment("The same for floats.")
sin_and_cos("kSinCosOfFloat", 4)
comment("The first two times 2^10 are exact.")
parts("kHalfPi", mp.pi / 2, 43, 43)
comment("For floats. The first one times 2^20 is exact.")
parts("kHalfPiOfFloat", mp.pi / 2, 33)
constant("kTwoOverPi", 2 / mp.pi)
comment("64 zeros, then the binary digits of 2 / pi.")
mp.dps = 500
digits = int(mp.floor(2 / mp.pi * mpf(2) ** 1344))
mp.dps = 60
words = [0] + [(digits >> (1344 - 64 * (i + 1))) & (2**64 - 1) for i in range(21)]
array("kTwoOverPiDigits", words, "std::uint64_t", lambda w: f"0x{w:016x}U")

slope = (mp.sqrt(2) - 1) ** 2 * mpf("1.001")
comment("(atan(q) - q) / q^3 as a function of q^2, for q <= tan(pi / 8).")
array("kAtan", fit(series(lambda k: (-1) ** (k + 1) / mpf(2 * k + 3), 120), 0, slope, 12))
array("kHalfPiPair", pair(mp.pi / 2))
comment("Multiples of pi / 4, each as the sum of two numbers.")
lines.append("constexpr double kEighths[][2] = {" + ", ".join(f"{{{text(a)}, {text(b)}}}" for a, b in map(pair, (mp.pi / 4 * i for i in range(5)))) + "};")

comment("erf(x) / x - 1 as a function of x^2, for x <= 1/2.")
array("kErfNearZero", fit(series(lambda k: 2 / mp.sqrt(mp.pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1)) - (k == 0)), 0, 0.25, 9))
comment("erf(x) for x from i / 2 to (i + 1) / 2, as a function of x - (2 i + 1) / 4, beginning with i = 1.")
lines.append("struct ErfInterval {\n  double middle, others[13];\n};")
rows = []
for i in range(1, 12):
    middle = mpf(2 * i + 1) / 4
    of = [text(c) for c in fit(lambda x: mp.erf(middle + x), -0.25, 0.25, 14)]
    rows.append(f"{{{of[0]}, {{{', '.join(of[1:])}}}}}")
lines.append("constexpr ErfInterval kErf[] = {" + ", ".join(rows) + "};")

top = """// SPDX-License-Identifier: Apache-2.0
// Made by coefficients.py: polynomials and tables.
#pragma once

#include <cstdint>

namespace {

"""
path = pathlib.Path(__file__).with_name("coefficients.h")
path.write_text(top + "\n".join(lines).strip() + "\n\n}  // namespace\n")
