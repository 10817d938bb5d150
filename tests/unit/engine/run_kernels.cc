// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/run_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/support/kernel_levels.h"
#include "tfaot/base/text.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::toolkit::testing {
namespace {

using kernels_test::Kernel;

// By name: "matmul_f32".
using KernelsByName = std::map<std::string, Kernel, std::less<>>;

KernelsByName kernels_of(const kernels_test::Level& level) {
  KernelsByName made;
#define TFAOT_ADD_KERNEL(type, kernel) made[#kernel "_" #type] = level.type.kernel;
#define TFAOT_KERNEL_ROW(id, kernel, types, call, shared, scratch) types(TFAOT_ADD_KERNEL, kernel)
#include "tfaot/kernels/kernels.def"
  return made;
}

// As the runtime aligns it; filled with what no kernel may leave there.
class Memory {
 public:
  explicit Memory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_.reset(static_cast<char*>(operator new(bytes_ + 1, kAlignment)));
    std::fill_n(data_.get(), bytes_, '\xff');
  }
  char* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(char* data) const { operator delete(data, kAlignment); }
  };
  std::size_t bytes_;
  std::unique_ptr<char, Free> data_;
};

absl::StatusOr<xla::Literal> call_kernel(const KernelsByName& kernels,
                                         const xla::HloInstruction* call,
                                         absl::Span<const xla::Literal*> operands) {
  const auto kernel = kernels.find(engine::kernel_name(*call));
  if (kernel == kernels.end()) {
    return absl::NotFoundError(std::string(engine::kernel_name(*call)));
  }
  std::vector<Memory> memory;
  std::vector<const void*> in;
  for (const xla::Literal* operand : operands) {
    const Memory& copy = memory.emplace_back(operand->size_bytes());
    std::copy_n(static_cast<const char*>(operand->untyped_data()), copy.size(), copy.data());
    in.push_back(copy.data());
  }
  const bool is_tuple = call->shape().IsTuple();
  const std::vector<xla::Shape> shapes =
      is_tuple ? call->shape().tuple_shapes() : std::vector<xla::Shape>{call->shape()};
  std::vector<Memory> results;
  std::vector<void*> out;
  for (const xla::Shape& shape : shapes) {
    out.push_back(results.emplace_back(xla::ShapeUtil::ByteSizeOf(shape)).data());
  }
  kernel->second(is_tuple ? static_cast<void*>(out.data()) : out.front(), in.data());
  std::vector<xla::Literal> parts;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    xla::Literal& part = parts.emplace_back(shapes[i]);
    std::copy_n(results[i].data(), results[i].size(), static_cast<char*>(part.untyped_data()));
  }
  if (!is_tuple) return std::move(parts.front());
  return xla::Literal::MoveIntoTuple(absl::MakeSpan(parts));
}

template <typename T>
void fill(xla::Literal& literal) {
  T next = T{0.1F};
  for (T& value : literal.data<T>()) {
    value = next;
    next = next > 2 ? next - T{2.9F} : next + T{0.7F};
  }
}

void expect_near(const xla::Literal& a, const xla::Literal& b, double tolerance,
                 const std::string& level) {
  if (a.shape().IsTuple()) {
    const auto left = a.Clone().DecomposeTuple(), right = b.Clone().DecomposeTuple();
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool is_scratch = i > 0 && left[i].shape().element_type() == xla::U8;
      if (!is_scratch) expect_near(left[i], right[i], tolerance, level);
    }
  } else {
    EXPECT_LT(relative_difference(a, b), tolerance) << level;
  }
}

// Levels sum in other orders; for int8 weights some also round the rows, to 16 bits.
double tolerance_between_levels(const xla::HloModule& module) {
  const auto all = engine::instructions_of(module);
  const bool is_narrow = std::ranges::any_of(
      all, [](auto* one) { return engine::is_call_of(*one, engine::Kernel::kNarrowMatMul); });
  return is_narrow ? 1e-3 : 1e-5;
}

// Different numbers. Bytes take up most of their range.
xla::Literal filled(const xla::Shape& shape) {
  const bool is_double = shape.element_type() == xla::F64;
  const bool is_unsigned_byte = shape.element_type() == xla::U8;
  xla::Literal made(xla::ShapeUtil::ChangeElementType(shape, is_double ? xla::F64 : xla::F32));
  if (is_double) {
    fill<double>(made);
  } else {
    fill<float>(made);
  }
  if (is_unsigned_byte || shape.element_type() == xla::S8) {
    for (float& value : made.data<float>()) value = 44 * value + (is_unsigned_byte ? 128 : 0);
  }
  return made.Convert(shape.element_type()).value();
}

// "1 nan -2"
xla::Literal literal_of(const xla::Shape& shape, const std::string& numbers) {
  xla::Literal made(xla::ShapeUtil::ChangeElementType(shape, xla::F64));
  const std::vector<std::string> words = split_words(numbers);
  EXPECT_EQ(xla::ShapeUtil::ElementsIn(shape), std::ssize(words)) << numbers;
  if (xla::ShapeUtil::ElementsIn(shape) == std::ssize(words)) {
    std::ranges::transform(words, made.data<double>().begin(),
                           [](const std::string& word) { return std::stod(word); });
  }
  return made.Convert(shape.element_type()).value();
}

}  // namespace

xla::Literal result_with_kernels(const xla::HloModule& module,
                                 const std::vector<std::string>& numbers) {
  std::vector<xla::Literal> inputs;
  for (const auto* one : module.entry_computation()->parameter_instructions()) {
    inputs.push_back(inputs.size() < numbers.size()
                         ? literal_of(one->shape(), numbers[inputs.size()])
                         : filled(one->shape()));
  }
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& input : inputs) pointers.push_back(&input);
  std::optional<xla::Literal> first;
  for (const kernels_test::Level& level : kernels_test::all_levels()) {
    if (!kernels_test::runs_here(level)) continue;
    const KernelsByName kernels = kernels_of(level);
    xla::HloEvaluator evaluator;
    evaluator.set_custom_call_handler(
        [&](const auto* call, auto operands) { return call_kernel(kernels, call, operands); });
    auto result = evaluator.Evaluate(module, pointers);
    EXPECT_TRUE(result.ok()) << result.status().message() << "\n" << module.ToString();
    if (!result.ok()) return {};
    if (!first) {
      first = std::move(*result);
      const auto all = engine::instructions_of(module);
      if (std::ranges::none_of(all, [](auto* one) { return engine::is_kernel_call(*one); })) break;
    } else {
      expect_near(*first, *result, tolerance_between_levels(module), level.name);
    }
  }
  return *std::move(first);
}

std::vector<std::string> called_kernels(const xla::HloModule& module) {
  std::vector<std::string> names;
  for (const auto* one : module.entry_computation()->MakeInstructionPostOrder()) {
    if (engine::is_kernel_call(*one)) names.emplace_back(engine::kernel_name(*one));
  }
  return names;
}

std::vector<double> numbers_of(const xla::Literal& result) {
  std::vector<double> numbers;
  if (result.shape().IsTuple()) {
    for (const xla::Literal& part : result.Clone().DecomposeTuple()) {
      const std::vector<double> more = numbers_of(part);
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
    return numbers;
  }
  const xla::Literal wide = result.Convert(xla::F64).value();
  return {wide.data<double>().begin(), wide.data<double>().end()};
}

double relative_difference(const xla::Literal& a, const xla::Literal& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape()) return kInfinity;
  const std::vector<double> numbers_a = numbers_of(a), numbers_b = numbers_of(b);
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < numbers_a.size(); ++i) {
    const double x = numbers_a[i];
    const double y = numbers_b[i];
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!std::isfinite(x - y)) return kInfinity;
    difference = std::max(difference, std::abs(x - y));
  }
  return largest == 0 ? difference : difference / largest;
}

}  // namespace tfaot::toolkit::testing
