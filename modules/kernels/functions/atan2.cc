// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
#include "tfaot/kernels/functions.h"

// The angle between the direction (y, x) and the nearest axis or diagonal is the arc tangent of a
// quotient of at most tan(pi / 8).
double tfaot_atan2_f64(double y, double x) {
  if (x != x) return x + x;
  if (y != y) return y + y;
  double above = size_of(y);
  double below = size_of(x);
  const bool is_steep = above > below;
  if (is_steep) {
    const double other = above;
    above = below;
    below = other;
  }
  if (below == kInfinity) {
    above = above == kInfinity ? 1 : 0;
    below = 1;
  } else if (below > 0x1p1000) {  // the sum would be infinite
    above *= 0x1p-100;
    below *= 0x1p-100;
  } else if (below < 0x1p-900) {  // kTangent times a denormal number is not what it should be
    above *= 0x1p100;
    below *= 0x1p100;
  }
  constexpr double kTangent = 0.41421356237309503;
  const bool is_diagonal = above > kTangent * below;
  const double quotient = is_diagonal  ? (above - below) / (above + below)
                          : below == 0 ? 0
                                       : above / below;
  const double square = quotient * quotient;
  const double change = quotient * square * polynomial(kAtan, square);
  // The angle is turn * pi / 4 and the arc tangent, from 0 to pi / 4; then from the y axis, and
  // from the negative x axis.
  int turn = is_diagonal ? 1 : 0;
  double sign = 1;
  if (is_steep) {
    turn = 2 - turn;
    sign = -sign;
  }
  if (bits_of(x) >= kSignBit) {
    turn = 4 - turn;
    sign = -sign;
  }
  const Pair sum = ordered_sum(kEighths[turn][0], sign * quotient);
  return with_sign(sum.high + (sum.low + (kEighths[turn][1] + sign * change)), y);
}

float tfaot_atan2_f32(float y, float x) { return static_cast<float>(tfaot_atan2_f64(y, x)); }
