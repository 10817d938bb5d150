// SPDX-License-Identifier: Apache-2.0
// The Fourier transforms that XLA's code calls by name. They ask for memory, so tfaot compiles no
// code that calls them: that of cms-tfaot and of earlier versions does. All are in float64.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "tfaot/kernels/functions.h"

namespace {

using Int = std::int64_t;
using Complex = std::complex<double>;

std::vector<Complex> numbers(Int count) {
  return std::vector<Complex>(static_cast<std::size_t>(count));
}

// Without the branches of std::complex for infinities.
Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(-2 pi i part / whole)
Complex turn(Int part, Int whole) {
  constexpr double kCircle = 6.283185307179586477;
  double sine = 0, cosine = 0;
  tfaot_sincos_f64(kCircle * static_cast<double>(part) / static_cast<double>(whole), &sine,
                   &cosine);
  return {cosine, -sine};
}

// Transforms `count` numbers that are `step` apart: those of each residue modulo a prime factor,
// then all. turns: of `step * count` parts of a circle. room: for `count` numbers.
void transform(const Complex* in, Int step, Complex* out, Int count, const Complex* turns,
               Complex* room) {
  Int factor = 2;
  while (count % factor != 0) factor = factor * factor > count ? count : factor + 1;
  const Int each = count / factor;
  for (Int i = 0; i < factor; ++i) {
    if (each == 1) {
      out[i] = in[i * step];
    } else {
      transform(in + i * step, step * factor, out + i * each, each, turns, room);
    }
  }
  for (Int k = 0; k < each; ++k) {
    if (factor == 2) {
      const Complex odd = product(out[each + k], turns[k * step]);
      out[each + k] = out[k] - odd;
      out[k] += odd;
      continue;
    }
    for (Int i = 0; i < factor; ++i) room[i] = out[i * each + k];
    for (Int j = k; j < count; j += each) {
      Complex sum = room[0];
      for (Int i = 1, part = j; i < factor; ++i) {
        sum += product(room[i], turns[part * step]);
        part += part + j < count ? j : j - count;
      }
      out[j] = sum;
    }
  }
}

// The kinds of transforms, by XLA's numbers.
enum Kind : std::int32_t { kForward = 0, kBack = 1, kOfReal = 2, kToReal = 3 };

struct Call {
  std::int32_t kind, rank;
  const Int* shape;   // of the input: a batch, then `rank` dimensions
  const Int* length;  // of each

  bool is_back() const { return kind == kBack || kind == kToReal; }
  Int half() const { return length[rank - 1] / 2 + 1; }  // of the last dimension
};

// Transforms along dimension d, where neighbours are `step` apart. Of numbers that become real, the
// last dimension is half there.
void transform_along(const Call& call, std::int32_t d, Int step, Complex* x, Int size) {
  const Int length = call.length[d];
  std::vector<Complex> all = numbers(4 * length);
  Complex *const turns = all.data(), *const from = turns + length, *const to = from + length;
  for (Int k = 0; k < length; ++k) turns[k] = turn(k, length);
  const Int there = call.kind == kToReal && d == call.rank - 1 ? call.half() : length;
  for (Int i = 0; i < size; ++i) {
    if (i / step % length != 0) continue;
    for (Int k = 0; k < length; ++k) {
      const Complex one = x[i + (k < there ? k : length - k) * step];
      from[k] = call.is_back() == (k < there) ? std::conj(one) : one;
    }
    transform(from, 1, to, length, turns, to + length);
    for (Int k = 0; k < length; ++k) x[i + k * step] = call.is_back() ? std::conj(to[k]) : to[k];
  }
}

// T: of the numbers, of which two are a complex one.
template <class T>
void transform_all(const Call& call, const T* in, T* out) {
  const std::int32_t last = call.rank - 1;
  const Int length = call.length[last], in_row = call.shape[call.rank];
  const Int in_parts = call.kind == kOfReal ? 1 : 2;
  const Int read = std::min(in_row, call.kind == kToReal ? call.half() : length);
  const Int written = call.kind == kOfReal ? call.half() : length;
  Int of_batch = 1;
  for (std::int32_t d = 0; d < last; ++d) of_batch *= call.length[d];
  const Int rows = call.shape[0] * of_batch, size = rows * length;
  std::vector<Complex> all = numbers(size);  // zeros beyond the input
  Complex* const x = all.data();
  for (Int row = 0; row < rows; ++row) {
    Int from = 0, step = in_row, rest = row;
    bool is_there = true;
    for (std::int32_t d = last; d-- > 0; rest /= call.length[d], step *= call.shape[d + 1]) {
      from += rest % call.length[d] * step;
      is_there = is_there && rest % call.length[d] < call.shape[d + 1];
    }
    for (Int k = 0; is_there && k < read; ++k) {
      const T* const one = in + (rest * step + from + k) * in_parts;
      x[row * length + k] = {one[0], in_parts == 1 ? 0 : one[1]};
    }
  }
  Int step = of_batch * length;
  for (std::int32_t d = 0; d < call.rank; ++d) {
    step /= call.length[d];
    transform_along(call, d, step, x, size);
  }
  const double scale = call.is_back() ? 1 / static_cast<double>(of_batch * length) : 1;
  for (Int i = 0; i < size; ++i) {
    if (i % length >= written) continue;
    *out++ = static_cast<T>(scale * x[i].real());
    if (call.kind != kToReal) *out++ = static_cast<T>(scale * x[i].imag());
  }
}

}  // namespace

extern "C" void __xla_cpu_runtime_DuccSingleThreadedFft(const void* /*options*/, void* out,
                                                        void* in, std::int32_t kind,
                                                        std::int32_t is_double, std::int32_t rank,
                                                        const Int* shape, const Int* length) {
  const Call call = {kind, rank, shape, length};
  if (is_double != 0) {
    transform_all(call, static_cast<const double*>(in), static_cast<double*>(out));
  } else {
    transform_all(call, static_cast<const float*>(in), static_cast<float*>(out));
  }
}
