// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, as products with known matrices (XLA's would need its runtime), and what
// comes before and after them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/constants.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

// Real and imaginary parts are the last dimension; a signal without imaginary parts has one.
struct FourierForm {
  std::int64_t length = 0;  // of the transform
  std::int64_t in = 0;      // elements that there are
  std::int64_t in_parts = 1;
  bool is_inverse = false;
  bool is_onesided = false;

  std::int64_t out() const { return is_onesided && !is_inverse ? length / 2 + 1 : length; }
  std::int64_t out_parts() const { return is_onesided && is_inverse ? 1 : 2; }
};

// Weight of an element of a one-sided spectrum, since the other side is left out.
double times_counted(const FourierForm& form, std::int64_t place) {
  if (!form.is_onesided || !form.is_inverse) return 1;
  if (place > form.length / 2) return 0;
  return place == 0 || 2 * place == form.length ? 1 : 2;
}

// [in, in_parts, out, out_parts]
XlaOp fourier_matrix(const Node& node, const FourierForm& form) {
  node.check_made(form.length, kMostMadeElements);  // so that the next product does not overflow
  const std::int64_t count = form.in * form.in_parts * form.out() * form.out_parts();
  node.check_made(count, kMostMadeElements);
  std::vector<double> matrix;
  matrix.reserve(static_cast<std::size_t>(count));
  const auto length = static_cast<double>(form.length);
  const double sign = form.is_inverse ? 1 : -1;
  const double scale = form.is_inverse ? 1 / length : 1;
  for (std::int64_t i = 0; i < form.in; ++i) {
    const double factor = scale * times_counted(form, i);
    for (std::int64_t part = 0; part < form.in_parts; ++part) {
      for (std::int64_t k = 0; k < form.out(); ++k) {
        const auto turn = static_cast<double>(i * k % form.length) / length;
        const double cosine = factor * std::cos(2 * std::numbers::pi * turn);
        const double sine = sign * factor * std::sin(2 * std::numbers::pi * turn);
        // i times (cosine + i sine) is -sine + i cosine.
        matrix.push_back(part == 0 ? cosine : -sine);
        if (form.out_parts() == 2) matrix.push_back(part == 0 ? sine : cosine);
      }
    }
  }
  return constant_reals(node, xla::F64, matrix,
                        {form.in, form.in_parts, form.out(), form.out_parts()});
}

// Transforms one axis of x, whose last dimension has the parts. In double precision, as NumPy does:
// where waves cancel, the result has the input's digits.
XlaOp fourier(const Node& node, XlaOp x, std::int64_t axis, FourierForm form) {
  const Dimensions sizes = node.sizes_of(x);
  const std::int64_t last = std::ssize(sizes) - 1;
  form.in_parts = sizes.back();
  if (form.in_parts != 1 && form.in_parts != 2) {
    node.refuse("needs real and imaginary parts as its last dimension");
  }
  if (axis == last) node.refuse("cannot transform the dimension of real and imaginary parts");
  if (form.length < 1) node.refuse("transforms nothing");
  const std::int64_t most = form.is_inverse && form.is_onesided ? form.length / 2 + 1 : form.length;
  form.in = std::min(entry(sizes, axis), most);
  const auto type = node.type_of(x);
  x = cast(xla::SliceInDim(x, 0, form.in, 1, axis), xla::F64);
  const XlaOp made = cast(dot(x, fourier_matrix(node, form), {{axis, last}, {0, 1}}), type);
  // The axis is after the others.
  Dimensions order = dimension_range(0, std::ssize(sizes));
  std::rotate(order.begin() + axis, order.end() - 2, order.end() - 1);
  return xla::Transpose(made, order);
}

// The axis is an attribute up to opset 19, then an operand.
void lower_dft(Node& node) {
  const Dimensions sizes = node.sizes(0);
  std::int64_t axis = node.opset() < 20 ? node.integer("axis", 1) : -2;
  if (node.opset() >= 20 && node.has(2)) axis = node.known_integer(2);
  axis = node.axis(axis, std::ssize(sizes));
  FourierForm form;
  form.is_inverse = node.flag("inverse");
  form.is_onesided = node.flag("onesided");
  const std::int64_t size = entry(sizes, axis);
  form.length = node.has(1)                           ? node.known_integer(1)
                : form.is_inverse && form.is_onesided ? 2 * (size - 1)
                                                      : size;
  node.set(fourier(node, node.operand(0), axis, form));
}

// Operands: [batch, signal, parts], step between frames, window, length of a frame.
void lower_stft(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() != 3) node.refuse("needs a signal of three dimensions");
  const std::int64_t step = node.known_integer(1);
  const std::int64_t length = node.has(3)   ? node.known_integer(3)
                              : node.has(2) ? node.sizes(2).at(0)
                                            : sizes[1];
  if (step < 1 || length < 1 || length > sizes[1]) node.refuse("has frames that do not fit");
  const std::int64_t count = 1 + (sizes[1] - length) / step;
  node.check_made(count, kMostKnownElements);
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < count; ++i) starts.push_back(i * step);
  const auto numbers =
      xla::HloGatherInstruction::MakeGatherDimNumbers({0, 2, 3}, {}, {1}, /*index_vector_dim=*/1);
  XlaOp frames = xla::Gather(node.operand(0), constant_integers(node, starts), numbers,
                             {sizes[0], length, sizes[2]});
  if (node.has(2)) {
    if (node.sizes(2) != Dimensions{length}) node.refuse("has a window of another length");
    frames = frames * along(node.operand(2), node.sizes_of(frames), 2);
  }
  FourierForm form;
  form.length = length;
  form.is_onesided = node.flag("onesided", true);
  node.set(fourier(node, frames, 2, form));
}

// Known values in the type that the attribute output_datatype names.
XlaOp known_values(const Node& node, const std::vector<double>& values) {
  const auto type = node.type_of_number(node.integer("output_datatype", 1), "makes");
  return constant_reals(node, type, values, {std::ssize(values)});
}

// A sum of cosines of 0, 1 and 2 turns over the window.
struct CosineWindow {
  double constant;
  double once;
  double twice;
};

void set_cosine_window(Node& node, CosineWindow window) {
  const std::int64_t size = node.known_integer(0);
  if (size < 0) node.refuse("has a negative size");
  node.check_made(size, kMostKnownElements);
  const auto length = static_cast<double>(node.flag("periodic", true) ? size : size - 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i) {
    const double turn = length == 0 ? 0.5 : static_cast<double>(i) / length;
    const double angle = 2 * std::numbers::pi * turn;
    values.push_back(window.constant + window.once * std::cos(angle) +
                     window.twice * std::cos(2 * angle));
  }
  node.set(known_values(node, values));
}

void lower_hann_window(Node& node) { set_cosine_window(node, {0.5, -0.5, 0}); }
void lower_hamming_window(Node& node) { set_cosine_window(node, {25.0 / 46, -21.0 / 46, 0}); }
void lower_blackman_window(Node& node) { set_cosine_window(node, {0.42, -0.5, 0.08}); }

// Triangles over the places of a spectrum, evenly spaced as people hear. Operands: how many, the
// transform's length, samples a second, the lowest and the highest frequency.
void lower_mel_weight_matrix(Node& node) {
  const std::int64_t bins = node.known_integer(0);
  const std::int64_t length = node.known_integer(1);
  const std::int64_t rate = node.known_integer(2);
  const double low = node.known_real(3);
  const double high = node.known_real(4);
  if (bins < 1 || length < 1 || rate < 1) node.refuse("makes an empty matrix");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  const auto place = [&](std::int64_t i) {
    const double hertz =
        700 * (std::pow(10, (static_cast<double>(i) * step + mel(low)) / 2595) - 1);
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
  };
  const std::int64_t rows = length / 2 + 1;
  node.check_made(std::max(bins, rows), kMostMadeElements);
  node.check_made(rows * bins, kMostMadeElements);
  std::vector<double> matrix(static_cast<std::size_t>(rows * bins));
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const std::int64_t left = place(bin);
    const std::int64_t center = place(bin + 1);
    const std::int64_t right = place(bin + 2);
    for (std::int64_t row = std::max<std::int64_t>(left, 0); row < rows; ++row) {
      if (row > center && row >= right) break;
      const auto part = [](std::int64_t a, std::int64_t b) {
        return static_cast<double>(a) / static_cast<double>(b);
      };
      entry(matrix, row * bins + bin) = row == center  ? 1
                                        : row < center ? part(row - left, center - left)
                                                       : part(right - row, right - center);
    }
  }
  node.set(xla::Reshape(known_values(node, matrix), {rows, bins}));
}

}  // namespace

std::vector<OnnxOperator> signal_operators() {
  return {
      {"BlackmanWindow", 17, lower_blackman_window, {.known = {0}}},
      {"DFT", 17, lower_dft, {.known = {1, 2}}},
      {"HammingWindow", 17, lower_hamming_window, {.known = {0}}},
      {"HannWindow", 17, lower_hann_window, {.known = {0}}},
      {"MelWeightMatrix", 17, lower_mel_weight_matrix, {.known = {0, 1, 2, 3, 4}}},
      {"STFT", 17, lower_stft, {.known = {1, 3}}},
  };
}

}  // namespace tfaot::toolkit::engine
