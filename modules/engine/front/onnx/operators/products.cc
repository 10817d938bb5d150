// SPDX-License-Identifier: Apache-2.0
// Sums and products: matrix products, Einsum, determinants; Fourier transforms, as products with
// constant matrices (XLA's own needs its runtime), and their windows; reductions, softmax and its
// variants, normalisations, losses.

#include <cctype>
#include <numbers>

#include "absl/strings/str_split.h"
#include "front/onnx/operators/building.h"

namespace tfaot::toolkit::engine {
namespace {

void lower_matmul(Node& node) {
  node.set(multiply_matrices(node, node.operand(0), node.operand(1)));
}

// alpha * A * B + beta * C
void lower_gemm(Node& node) {
  if (node.rank(0) != 2 || node.rank(1) != 2) node.refuse("needs matrices");
  for (const std::int64_t rows : node.sizes(0)) {
    for (const std::int64_t columns : node.sizes(1)) node.check_sizes({rows, columns});
  }
  check_inner_sizes(node, node.sizes(0)[node.flag("transA") ? 0 : 1],
                    node.sizes(1)[node.flag("transB") ? 1 : 0]);
  const auto scaled = [](XlaOp x, float by) { return by == 1 ? x : x * by; };
  XlaOp sum =
      xla::BatchDot(node.operand(0), node.flag("transA"), node.operand(1), node.flag("transB"));
  sum = scaled(sum, node.real("alpha", 1));
  if (node.has(2)) {
    const XlaOp added = scaled(node.operand(2), node.real("beta", 1));
    sum = sum + broadcast_to(node, added, node.sizes_of(sum));
  }
  node.set(sum);
}

// Names of dimensions: letters; for those of "...", kEinsumRest plus the position from the end.
using EinsumLabels = std::vector<std::int64_t>;
constexpr std::int64_t kEinsumRest = 256;

// "...ij", where "..." stands for `rest` dimensions.
EinsumLabels parse_labels(const Node& node, std::string_view text, std::int64_t rest) {
  EinsumLabels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      for (std::int64_t k = rest; k > 0; --k) labels.push_back(kEinsumRest + k);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels.push_back(text[i]);
    } else {
      node.refuse("has '{}' in its equation", text[i]);
    }
  }
  return labels;
}

// Without "->", the result has the dimensions of "...", then letters that occur once.
EinsumLabels implied_labels(const std::vector<EinsumLabels>& operands, EinsumLabels rest) {
  std::multiset<std::int64_t> letters;
  for (const EinsumLabels& labels : operands) letters.insert(labels.begin(), labels.end());
  for (const std::int64_t letter : letters) {
    if (letter < kEinsumRest && letters.count(letter) == 1) rest.push_back(letter);
  }
  return rest;
}

// The labels of each operand. `rest`: becomes the number of dimensions that "..." stands for.
std::vector<EinsumLabels> operand_labels(const Node& node, const std::string& text,
                                         std::int64_t& rest) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (std::ssize(parts) != node.operand_count())
    node.refuse("has an equation for {} operands", parts.size());
  std::vector<EinsumLabels> all;
  std::map<std::int64_t, std::int64_t> known;  // sizes; 1 counts as any size
  for (int i = 0; i < node.operand_count(); ++i) {
    const std::string& part = entry(parts, i);
    const Dimensions sizes = node.sizes(i);
    const auto letters = std::ssize(parse_labels(node, part, 0));
    const bool has_rest = part.find("...") != std::string::npos;
    const std::int64_t own_rest = has_rest ? std::ssize(sizes) - letters : 0;
    if (own_rest < 0 || letters + own_rest != std::ssize(sizes)) {
      node.refuse("has '{}' in its equation for an operand with {} dimensions", part, sizes.size());
    }
    rest = std::max(rest, own_rest);
    all.push_back(parse_labels(node, part, own_rest));
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t& size = known.try_emplace(all.back()[d], sizes[d]).first->second;
      if (size == 1) size = sizes[d];
      if (sizes[d] != 1 && sizes[d] != size)
        node.refuse("has dimensions of sizes {} and {} with one name", size, sizes[d]);
    }
  }
  return all;
}

// Multiplies one operand after the other with the product so far. XLA sums over labels that are not
// needed later.
void lower_einsum(Node& node) {
  const std::string equation = node.text("equation", "");
  const auto arrow = equation.find("->");
  std::int64_t rest = 0;
  const auto operands = operand_labels(node, equation.substr(0, arrow), rest);
  const EinsumLabels result = arrow == std::string::npos
                                  ? implied_labels(operands, parse_labels(node, "...", rest))
                                  : parse_labels(node, equation.substr(arrow + 2), rest);
  std::set<std::int64_t> all;
  for (const EinsumLabels& labels : operands) all.insert(labels.begin(), labels.end());
  for (const std::int64_t label : result) {
    if (!all.contains(label)) node.refuse("names a dimension in its result that no operand has");
  }
  XlaOp made = scalar(node, node.type(0), 1);
  EinsumLabels has;
  if (operands.size() > 1) {
    made = node.operand(0);
    has = operands.front();
  }
  for (std::size_t i = operands.size() > 1 ? 1 : 0; i < operands.size(); ++i) {
    std::set<std::int64_t> needed(result.begin(), result.end());
    for (std::size_t k = i + 1; k < operands.size(); ++k) {
      needed.insert(operands[k].begin(), operands[k].end());
    }
    std::set<std::int64_t> seen(has.begin(), has.end());
    seen.insert(operands[i].begin(), operands[i].end());
    EinsumLabels kept;
    std::ranges::set_intersection(seen, needed, std::back_inserter(kept));
    if (i + 1 == operands.size()) kept = result;
    made = xla::Einsum(made, has, node.operand(static_cast<int>(i)), operands[i], kept);
    has = kept;
  }
  node.set(made);
}

// Partial pivoting: the row with the largest element of the first column comes first.
struct PivotedMatrices {
  XlaOp rows;  // with the first row in place of the pivot's
  XlaOp pivot_row;
  XlaOp is_moved;  // [batch]
};
PivotedMatrices pivoted(const Node& node, XlaOp matrices) {
  const Dimensions sizes = node.sizes_of(matrices);
  const XlaOp which = xla::ArgMax(xla::Abs(part_at(node, matrices, 0, 2)), xla::S32, 1);
  const XlaOp is_pivot = index_along(node, xla::S32, sizes, 1) == along(which, sizes, 0);
  const XlaOp pivot_row = sum_of(xla::Select(is_pivot, matrices, xla::ZerosLike(matrices)), {1});
  const XlaOp first_row = spread(part_at(node, matrices, 0, 1), sizes, {1});
  return {xla::Select(is_pivot, first_row, matrices), pivot_row, which != 0};
}

// Gaussian elimination, one column after the other.
void lower_det(Node& node) {
  constexpr std::int64_t kMostRows = 64;
  const Dimensions sizes = node.sizes(0);
  if (sizes.size() < 2 || sizes.back() != sizes[sizes.size() - 2])
    node.refuse("needs square matrices");
  const std::int64_t rows = sizes.back();
  if (rows > kMostRows) node.refuse("has matrices of {} rows, but {} is the most", rows, kMostRows);
  const Dimensions batch(sizes.begin(), sizes.end() - 2);
  const std::int64_t count = product(batch);
  XlaOp left = xla::Reshape(node.operand(0), {count, rows, rows});
  const XlaOp ones = xla::Broadcast(scalar(node, node.type(0), 1), {count});
  XlaOp determinant = ones;
  for (std::int64_t size = rows; size > 0; --size) {
    const PivotedMatrices now = pivoted(node, left);
    const XlaOp pivot = part_at(node, now.pivot_row, 0, 1);
    determinant = determinant * xla::Select(now.is_moved, -pivot, pivot);
    if (size == 1) break;
    const XlaOp divisor = xla::Select(pivot == xla::ZerosLike(pivot), ones, pivot);
    const Dimensions smaller = {count, size - 1, size - 1};
    const XlaOp column = xla::Reshape(xla::Slice(now.rows, {0, 1, 0}, {count, size, 1}, {1, 1, 1}),
                                      {count, size - 1});
    const XlaOp factors = column / along(divisor, {count, size - 1}, 0);
    const XlaOp rest = xla::Slice(now.rows, {0, 1, 1}, {count, size, size}, {1, 1, 1});
    const XlaOp row = xla::SliceInDim(now.pivot_row, 1, size, 1, 1);
    left = rest - spread(factors, smaller, {2}) * spread(row, smaller, {1});
  }
  node.set(xla::Reshape(determinant, batch));
}

// The last dimension holds real and imaginary parts, or only real ones.
struct FourierForm {
  std::int64_t length = 0;  // of the transform
  std::int64_t in = 0;      // elements that there are
  std::int64_t in_parts = 1;
  bool is_inverse = false;
  bool is_onesided = false;

  std::int64_t out() const { return is_onesided && !is_inverse ? length / 2 + 1 : length; }
  std::int64_t out_parts() const { return is_onesided && is_inverse ? 1 : 2; }
};

// The multiplicity of an element of a one-sided spectrum, as the other side is omitted.
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

// Transforms one axis of x, whose last dimension has the parts. In double precision, as in NumPy,
// so that cancelling waves keep the input's precision.
XlaOp fourier(const Node& node, XlaOp x, std::int64_t axis, FourierForm form) {
  const Dimensions sizes = node.sizes_of(x);
  const std::int64_t last = std::ssize(sizes) - 1;
  form.in_parts = sizes.back();
  if (form.in_parts != 1 && form.in_parts != 2)
    node.refuse("needs real and imaginary parts as its last dimension");
  if (axis == last) node.refuse("cannot transform the dimension of real and imaginary parts");
  if (form.length < 1) node.refuse("transforms nothing");
  const std::int64_t most = form.is_inverse && form.is_onesided ? form.length / 2 + 1 : form.length;
  form.in = std::min(entry(sizes, axis), most);
  const auto type = node.type_of(x);
  x = cast(xla::SliceInDim(x, 0, form.in, 1, axis), xla::F64);
  const Dimensions all = counted(last + 1);
  const Dimensions made = with_size(with_size(all, axis, last + 1), last, last + 2);
  const Dimensions matrix = {axis, last, last + 1, last + 2};
  return cast(xla::Einsum(x, all, fourier_matrix(node, form), matrix, made), type);
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
  const auto starts = mapped(counted(count), [&](std::int64_t i) { return i * step; });
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

// A constant of the type of the attribute output_datatype.
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
  const auto value = [&](std::int64_t i) {
    const double turn = length == 0 ? 0.5 : static_cast<double>(i) / length;
    const double angle = 2 * std::numbers::pi * turn;
    return window.constant + window.once * std::cos(angle) + window.twice * std::cos(2 * angle);
  };
  node.set(known_values(node, mapped(counted(size), value)));
}

void lower_hann_window(Node& node) { set_cosine_window(node, {0.5, -0.5, 0}); }
void lower_hamming_window(Node& node) { set_cosine_window(node, {25.0 / 46, -21.0 / 46, 0}); }
void lower_blackman_window(Node& node) { set_cosine_window(node, {0.42, -0.5, 0.08}); }

// Triangular filters over a spectrum, evenly spaced on the mel scale. Operands: their number, the
// transform's length, the sample rate, the lowest and the highest frequency.
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

Dimensions reduced_axes(const Node& node) {
  const std::int64_t since = node.proto().op_type() == "ReduceSum" ? 13 : 18;
  Dimensions axes = integers_of(node, {since, 1, "axes"}).value_or(Dimensions());
  const std::int64_t rank = node.rank(0);
  if (!axes.empty()) return node.axes(std::move(axes), rank);
  return node.flag("noop_with_empty_axes") ? axes : counted(rank);
}

// The precision of a reduction: sums of half floats would lose digits, those of integers overflow
// (kWide), and roots and logarithms of integers are real.
enum class Computing { kAsIs, kExact, kReal, kWide };

XlaOp computed_with(const Node& node, XlaOp x, Computing how) {
  const auto type = node.type_of(x);
  if (how == Computing::kAsIs) return x;
  if (type == xla::F16 || type == xla::BF16) return cast(x, xla::F32);
  if (is_real(type) || how == Computing::kExact) return x;
  if (how == Computing::kReal) return cast(x, xla::F64);
  return cast(x, is_unsigned(type) ? xla::U64 : xla::S64);
}

// Sets the result in the operand's type. Reduced dimensions get size 1 if they are kept.
void set_reduced(Node& node, XlaOp reduced, const Dimensions& axes) {
  Dimensions sizes = node.sizes(0);
  for (const std::int64_t axis : axes) entry(sizes, axis) = 1;
  if (!node.flag("keepdims", true)) {
    sizes = picked(sizes, other_dimensions(std::ssize(sizes), axes));
  }
  node.set(xla::Reshape(cast(reduced, node.type(0)), sizes));
}

using Reduce = XlaOp (*)(XlaOp, const Dimensions&);
XlaOp reduce_axes(XlaOp x, const Dimensions& axes, Reduce reduce) {
  return axes.empty() ? x : reduce(x, axes);
}

XlaOp same(XlaOp x) { return x; }

// of_result(reduce(of_element(x)))
struct ReductionForm {
  const char* name;
  Computing computing;
  XlaOp (*of_element)(XlaOp);
  Reduce reduce;
  XlaOp (*of_result)(XlaOp);
};
constexpr auto kReductions = std::to_array<ReductionForm>({
    {"ReduceL1", Computing::kExact, xla::Abs, sum_of, same},
    {"ReduceL2", Computing::kReal, xla::Square, sum_of, xla::Sqrt},
    {"ReduceLogSum", Computing::kReal, same, sum_of, xla::Log},
    {"ReduceMax", Computing::kAsIs, same, largest_of, same},
    {"ReduceMin", Computing::kAsIs, same, least_of, same},
    {"ReduceProd", Computing::kExact, same, product_of, same},
    {"ReduceSum", Computing::kExact, same, sum_of, same},
    {"ReduceSumSquare", Computing::kExact, xla::Square, sum_of, same},
});

void lower_reduction(Node& node) {
  const auto& form = *std::ranges::find(kReductions, node.proto().op_type(), &ReductionForm::name);
  const auto axes = reduced_axes(node);
  XlaOp x = computed_with(node, node.operand(0), form.computing);
  const bool is_magnitude = form.of_element == xla::Abs && is_unsigned(node.type(0));
  if (!is_magnitude) x = form.of_element(x);
  set_reduced(node, form.of_result(reduce_axes(x, axes, form.reduce)), axes);
}

void lower_reduce_mean(Node& node) {
  const auto axes = reduced_axes(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kWide);
  const std::int64_t count = product(picked(node.sizes(0), axes));
  // ONNX Runtime's mean of no elements is 0.
  set_reduced(node, reduce_axes(x, axes, sum_of) / std::max<std::int64_t>(count, 1), axes);
}

// Subtracts the largest element first, unless it is infinite, so that no exponential overflows.
void lower_reduce_log_sum_exp(Node& node) {
  const auto axes = reduced_axes(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kReal);
  XlaOp largest = reduce_axes(x, axes, largest_of);
  largest = xla::Select(xla::IsFinite(largest), largest, xla::ZerosLike(largest));
  const XlaOp powers = xla::Exp(x - spread(largest, node.sizes(0), axes));
  set_reduced(node, xla::Log(reduce_axes(powers, axes, sum_of)) + largest, axes);
}

// The operand as softmax and its variants see it, and its axis: one since opset 13. Before, they
// flatten all axes from it on.
std::pair<XlaOp, std::int64_t> normalized_axes(const Node& node) {
  const XlaOp x = node.operand(0);
  if (node.opset() >= 13) return {x, node.axis(node.integer("axis", -1), node.rank(0))};
  return {xla::Reshape(x, sizes_split_at(node, node.integer("axis", 1))), 1};
}

template <XlaOp (*kFunction)(const Node& node, XlaOp x, std::int64_t axis)>
void lower_along_axis(Node& node) {
  const auto [x, axis] = normalized_axes(node);
  node.set(xla::Reshape(kFunction(node, x, axis), node.sizes(0)));
}

// 1 for the largest element, the first one if there are several; else 0.
XlaOp hardmax(const Node& node, XlaOp x, std::int64_t axis) {
  const Dimensions sizes = node.sizes_of(x);
  const XlaOp first = xla::ArgMax(x, xla::S32, static_cast<int>(axis));
  const XlaOp is_first = index_along(node, xla::S32, sizes, axis) == spread(first, sizes, {axis});
  return cast(is_first, node.type(0));
}

// Groups of elements that are normalised together: those along the reduced axes.
struct Groups {
  Dimensions sizes;
  Dimensions reduced;

  XlaOp mean(XlaOp x) const { return sum_of(x, reduced) / product(picked(sizes, reduced)); }
  // Broadcasts to all elements of each group.
  XlaOp over(XlaOp values) const { return spread(values, sizes, reduced); }
  XlaOp centered(XlaOp x) const { return x - over(mean(x)); }
  XlaOp mean_square(XlaOp x) const { return mean(x * x); }
  // Gives the reduced axes size 1.
  XlaOp with_ones(XlaOp values) const {
    Dimensions kept = sizes;
    for (const auto d : reduced) entry(kept, d) = 1;
    return xla::Reshape(values, kept);
  }
};

// All axes from `first` on.
Groups groups_from(const Dimensions& sizes, std::int64_t first) {
  return {sizes, other_dimensions(std::ssize(sizes), counted(first))};
}

XlaOp inverse_deviation(const Node& node, XlaOp variance) {
  return xla::Rsqrt(variance + node.real("epsilon", 1e-5F));
}

// The type in which statistics are computed: stash_type.
xla::PrimitiveType stash_type(const Node& node) {
  const std::int64_t number = node.integer("stash_type", 1);
  const auto type = node.type_of_number(number, "computes in");
  if (!is_real(type)) node.refuse_type(number, "computes in");
  // Never less exact than the operand.
  return node.type(0) == xla::F64 ? xla::F64 : type;
}

XlaOp like_operand(const Node& node, XlaOp x) { return cast(x, node.type(0)); }

// x, scale, bias, mean, variance: by channel.
void lower_batch_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (node.opset() < 9 && !node.flag("spatial", true))
    node.refuse("has spatial=0, which was removed in opset 9");
  if (node.opset() < 7 && !node.flag("is_test")) node.refuse("trains: is_test is 0");
  // Statistics may have more bits than the operand.
  const auto exact = [type = node.type(3)](XlaOp op) { return cast(op, type); };
  const XlaOp x = exact(node.operand(0));
  XlaOp mean = node.operand(3);
  XlaOp variance = node.operand(4);
  if (node.flag("training_mode") || (node.opset() < 14 && node.wants(1))) {
    const Groups groups{sizes, other_dimensions(std::ssize(sizes), {1})};
    const XlaOp own_mean = groups.mean(x);
    const XlaOp own_variance = groups.mean_square(groups.centered(x));
    const float momentum = node.real("momentum", 0.9F);
    const auto running = [&](XlaOp before, XlaOp now) {
      return before * momentum + now * (1 - static_cast<double>(momentum));
    };
    node.set(1, running(mean, own_mean));
    node.set(2, running(variance, own_variance));
    node.set(3, own_mean);
    node.set(4, own_variance);
    mean = own_mean;
    variance = own_variance;
  }
  const auto spread = [&](XlaOp values) { return per_channel(node, values, sizes); };
  const XlaOp scale = exact(node.operand(1)) * inverse_deviation(node, variance);
  const XlaOp scaled = (x - spread(mean)) * spread(scale);
  node.set(0, like_operand(node, scaled + spread(exact(node.operand(2)))));
}

// The sizes of what a reshape made x from; empty: x is no reshape.
Dimensions sizes_before_reshape(XlaOp x) {
  using Friend = xla::internal::XlaBuilderFriend;
  const xla::HloInstructionProto& made = *Friend::GetInstruction(x);
  if (made.opcode() != "reshape") return {};
  const auto& before = Friend::GetInstructionByHandle(x.builder(), made.operand_ids(0))->shape();
  return {before.dimensions().begin(), before.dimensions().end()};
}

void lower_instance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  // PyTorch's groups of channels come as [batch, groups, rest]. The rest is taken apart into
  // channels and positions, so that transposes can pass (compiler/hlo/layouts.cc).
  Dimensions cut = sizes_before_reshape(node.operand(0));
  const bool is_of_groups = sizes.size() == 3 && cut.size() > 3 && cut[0] == sizes[0] &&
                            sizes[1] > 0 && cut[1] % sizes[1] == 0;
  cut = is_of_groups ? with_new(with_size(cut, 1, sizes[1]), 2, cut[1] / sizes[1]) : sizes;
  const Groups groups = groups_from(cut, 2);
  const XlaOp centered = groups.centered(xla::Reshape(node.operand(0), cut));
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(centered));
  const XlaOp made = centered * groups.over(inverse) * per_channel(node, node.operand(1), cut) +
                     per_channel(node, node.operand(2), cut);
  node.set(xla::Reshape(made, sizes));
}

// Normalises over all axes from `axis` on. Results: normalized, mean, 1 / deviation.
// RMSNormalization does not subtract the mean, and has only the first result.
template <bool kIsCentered>
void lower_layer_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Groups groups = groups_from(sizes, node.axis(node.integer("axis", -1), std::ssize(sizes)));
  XlaOp x = cast(node.operand(0), stash_type(node));
  const XlaOp mean = kIsCentered ? groups.mean(x) : XlaOp();
  if (kIsCentered) x = x - groups.over(mean);
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(x));
  XlaOp made = like_operand(node, x * groups.over(inverse));
  made = made * broadcast_to(node, node.operand(1), sizes);
  if (kIsCentered && node.has(2)) made = made + broadcast_to(node, node.operand(2), sizes);
  node.set(0, made);
  if (!kIsCentered) return;
  node.set(1, groups.with_ones(mean));
  node.set(2, groups.with_ones(inverse));
}

// Scale and bias are per group in opset 18, and per channel since opset 21.
void lower_group_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t count = node.integer("num_groups");
  if (sizes.size() < 2 || count < 1 || sizes[1] % count != 0)
    node.refuse("cannot make {} groups of its channels", count);
  const Dimensions cut = with_new(with_size(sizes, 1, count), 2, sizes[1] / count);
  const auto type = node.opset() >= 21 ? stash_type(node) : node.type(0);
  const Groups groups = groups_from(cut, 2);
  const XlaOp centered = groups.centered(xla::Reshape(cast(node.operand(0), type), cut));
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(centered));
  const XlaOp made = like_operand(node, xla::Reshape(centered * groups.over(inverse), sizes));
  const auto spread = [&](int operand) {
    XlaOp values = node.operand(operand);
    if (product(node.sizes_of(values)) == count && count != sizes[1]) {
      values = xla::Reshape(along(values, {count, sizes[1] / count}, 0), {sizes[1]});
    }
    return per_channel(node, values, sizes);
  };
  node.set(made * spread(1) + spread(2));
}

// Normalises by the squares of neighbouring channels.
void lower_lrn(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t size = node.integer("size");
  if (sizes.size() < 2 || size < 1) node.refuse("has no channels or a size below 1");
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const Dimensions ones(sizes.size(), 1);
  Paddings padding(sizes.size());
  padding[1] = {(size - 1) / 2, size / 2};
  const XlaOp sums =
      xla::ReduceWindowWithGeneralPadding(x * x, xla::Zero(&node.builder(), type),
                                          xla::CreateScalarAddComputation(type, &node.builder()),
                                          with_size(ones, 1, size), ones, {}, {}, padding);
  const double factor = static_cast<double>(node.real("alpha", 1e-4F)) / static_cast<double>(size);
  const XlaOp scale = sums * factor + node.real("bias", 1);
  node.set(x / xla::Pow(scale, like(scale, node.real("beta", 0.75F))));
}

// Vectors of zeros are kept.
void lower_lp_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.refuse("has a p other than 1 and 2");
  const Dimensions axis = {node.axis(node.integer("axis", -1), std::ssize(sizes))};
  const XlaOp x = node.operand(0);
  const XlaOp norm = p == 1 ? sum_of(xla::Abs(x), axis) : xla::Sqrt(sum_of(x * x, axis));
  const XlaOp divisor = spread(norm, sizes, axis);
  const XlaOp zeros = xla::ZerosLike(x);
  node.set(xla::Select(divisor == zeros, zeros, x / divisor));
}

void lower_mean_variance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.optional_integers("axes").value_or(Dimensions{0, 2, 3});
  const Groups groups{sizes, node.axes(axes, std::ssize(sizes))};
  const XlaOp centered = groups.centered(node.operand(0));
  node.set(centered / groups.over(xla::Sqrt(groups.mean_square(centered)) + 1e-9));
}

XlaOp sum_everything(const Node& node, XlaOp x) {
  return sum_of(x, counted(std::ssize(node.sizes_of(x))));
}

// `log_probabilities`: [batch, classes, ...]. Operand 1: the class of each place; operand 2:
// weights of the classes.
void set_likelihood_loss(Node& node, XlaOp log_probabilities) {
  const Dimensions sizes = node.sizes_of(log_probabilities);
  if (sizes.size() < 2 || std::ssize(sizes) != node.rank(1) + 1)
    node.refuse("needs classes with one dimension less than its operand");
  const auto type = node.type_of(log_probabilities);
  const XlaOp target = cast(node.operand(1), xla::S64);
  const XlaOp is_class = index_along(node, xla::S64, sizes, 1) == spread(target, sizes, {1});
  const auto of_class = [&](XlaOp values) {
    return sum_of(xla::Select(is_class, values, zeros_of(node, type, sizes)), {1});
  };
  XlaOp loss = -of_class(log_probabilities);
  const Dimensions places = node.sizes_of(loss);
  std::optional<XlaOp> weights;
  if (node.has(2)) weights = of_class(along(node.operand(2), sizes, 1));
  if (node.has_attribute("ignore_index")) {
    const XlaOp is_ignored = target == constant_integer(node, node.integer("ignore_index"));
    const XlaOp own = weights ? *weights : xla::Broadcast(scalar(node, type, 1), places);
    weights = xla::Select(is_ignored, zeros_of(node, type, places), own);
  }
  if (weights) loss = loss * *weights;
  const std::string reduction = node.word("reduction", {"mean", "none", "sum"});
  if (reduction == "none") return node.set(0, loss);
  const XlaOp sum = sum_everything(node, loss);
  if (reduction == "sum") return node.set(0, sum);
  node.set(0, weights ? sum / sum_everything(node, *weights) : sum / product(places));
}

void lower_likelihood_loss(Node& node) { set_likelihood_loss(node, node.operand(0)); }

void lower_cross_entropy_loss(Node& node) {
  const XlaOp x = node.operand(0);
  if (node.rank(0) < 2) node.refuse("needs a dimension of classes");
  const XlaOp log_probabilities = log_softmax(node, x, 1);
  node.set(1, log_probabilities);
  set_likelihood_loss(node, log_probabilities);
}

}  // namespace

std::vector<OnnxOperator> product_operators() {
  std::vector<OnnxOperator> rows = {
      {"BatchNormalization", 6, lower_batch_normalization},
      {"BlackmanWindow", 17, lower_blackman_window, {.known = {0}}},
      {"DFT", 17, lower_dft, {.known = {1, 2}}},
      {"Det", 11, lower_det},
      {"Einsum", 12, lower_einsum},
      {"Gemm", 6, lower_gemm},
      {"GroupNormalization", 18, lower_group_normalization},
      {"HammingWindow", 17, lower_hamming_window, {.known = {0}}},
      {"HannWindow", 17, lower_hann_window, {.known = {0}}},
      {"Hardmax", 1, lower_along_axis<hardmax>},
      {"InstanceNormalization", 6, lower_instance_normalization},
      {"LRN", 1, lower_lrn},
      {"LayerNormalization", 17, lower_layer_normalization<true>},
      {"LogSoftmax", 1, lower_along_axis<log_softmax>},
      {"LpNormalization", 1, lower_lp_normalization},
      {"MatMul", 1, lower_matmul},
      {"MeanVarianceNormalization", 9, lower_mean_variance_normalization},
      {"MelWeightMatrix", 17, lower_mel_weight_matrix, {.known = {0, 1, 2, 3, 4}}},
      {"NegativeLogLikelihoodLoss", 12, lower_likelihood_loss},
      {"RMSNormalization", 23, lower_layer_normalization<false>},
      {"ReduceLogSumExp", 1, lower_reduce_log_sum_exp, {.known = {1}}},
      {"ReduceMean", 1, lower_reduce_mean, {.known = {1}}},
      {"STFT", 17, lower_stft, {.known = {1, 3}}},
      {"Softmax", 1, lower_along_axis<softmax>},
      {"SoftmaxCrossEntropyLoss", 12, lower_cross_entropy_loss},
  };
  for (const ReductionForm& form : kReductions) {
    rows.push_back({form.name, 1, lower_reduction, {.known = {1}}});
  }
  return rows;
}

}  // namespace tfaot::toolkit::engine
