// SPDX-License-Identifier: Apache-2.0
// HLO modules and shapes as all rooms see them: dense and row-major. Used by one thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_computation.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;
using xla::HloOpcode;
using enum xla::HloOpcode;
using Dimensions = std::vector<std::int64_t>;

inline Error internal_error(const absl::Status& status) {
  return Error::internal(std::string(status.message()));
}
inline Status checked(const absl::Status& status) {
  if (status.ok()) return {};
  return fail(internal_error(status));
}

// For failures of TensorFlow or XLA that are defects of ours.
template <typename T>
Result<T> or_internal(absl::StatusOr<T> made) {
  if (!made.ok()) return fail(internal_error(made.status()));
  return *std::move(made);
}

// With all shapes row-major, so also what comes out of it, and without batching dimensions of
// gathers and scatters.
Result<std::unique_ptr<xla::HloModule>> make_module(const xla::HloModuleProto& proto);
// With the layouts that XLA gave it.
Result<std::unique_ptr<xla::HloModule>> module_as_it_is(const xla::HloModuleProto& proto);

inline xla::Shape shape_of(xla::PrimitiveType type, absl::Span<const std::int64_t> dimensions) {
  return xla::ShapeUtil::MakeShapeWithDescendingLayout(type, dimensions);
}

inline Dimensions dimensions_of(const HloInstruction& instruction) {
  return {instruction.shape().dimensions().begin(), instruction.shape().dimensions().end()};
}

// The size of a dimension.
inline std::int64_t size_of(const HloInstruction& value, std::integral auto dimension) {
  return value.shape().dimensions(static_cast<int>(dimension));
}

// All of a module: operands and called computations come before what uses them.
std::vector<HloInstruction*> instructions_of(const xla::HloModule& module);

// `first` and all that is reached from it by next(), the nearest first; of more than `most`, some.
template <typename Instruction, typename Next>
std::vector<Instruction*> reached_from(Instruction& first, Next next, std::size_t most = SIZE_MAX) {
  std::vector<Instruction*> found = {&first};
  std::set<const HloInstruction*> seen = {&first};
  for (std::size_t i = 0; i < found.size() && found.size() < most; ++i) {
    for (auto* one : next(*found[i])) {
      if (seen.insert(one).second) found.push_back(one);
    }
  }
  return found;
}

inline xla::PrimitiveType type_of(const HloInstruction& value) {
  return value.shape().element_type();
}
std::int64_t elements_of(const HloInstruction& value);  // 0 for tuples
// Of the first result, if it is a tuple.
inline const xla::Shape& first_shape(const HloInstruction& one) {
  return one.shape().IsTuple() ? one.shape().tuple_shapes(0) : one.shape();
}

std::int64_t product(absl::Span<const std::int64_t> sizes);
// Elements from one index of a dimension to the next.
std::int64_t stride_along(const xla::Shape& shape, std::int64_t dimension);
// The entries at these places.
Dimensions picked(absl::Span<const std::int64_t> values, absl::Span<const std::int64_t> places);
// The values of several lists, one list after the other.
Dimensions joined(std::initializer_list<absl::Span<const std::int64_t>> lists);
// Without the value at this place.
Dimensions without(absl::Span<const std::int64_t> values, std::int64_t place);
// The first place of a value; -1: it is not among them.
std::int64_t place_among(absl::Span<const std::int64_t> values, std::int64_t value);
// first, first + 1, ...
Dimensions counted(std::int64_t count, std::int64_t first = 0);
// The dimensions of a tensor of this rank that are not listed.
Dimensions other_dimensions(std::int64_t rank, absl::Span<const std::int64_t> listed);

// The shape with another size of one dimension.
xla::Shape resized(xla::Shape shape, std::int64_t dimension, std::int64_t size);

// An entry of a vector or an array.
template <typename Values>
decltype(auto) entry(Values&& values, std::integral auto place) {
  return std::forward<Values>(values)[static_cast<std::size_t>(place)];
}

// The order that sorts.
Dimensions sorting_order(absl::Span<const std::int64_t> values);
Dimensions order_of(const HloInstruction& transpose);

// Some dimensions of a reshape's operand that become some of its result.
struct ReshapeGroup {
  Dimensions from;
  Dimensions to;
};
std::vector<ReshapeGroup> groups_of(const HloInstruction& reshape);

// Types that kernels of our own take.
constexpr bool has_kernels(xla::PrimitiveType type) { return type == xla::F32 || type == xla::F64; }

// Makes the HLO of equal computations equal in every byte: ids and names follow the order in which
// the operations depend on each other, and traces of the model (its layers' names, lines of its
// source) are removed. So code can be cached by the hash, and nothing of the model that was
// compiled first gets into the package of the next. Names of the model's nodes are for people who
// look at the code; their computation has another hash.
enum class Traces { kRemoved, kNames };
Result<xla::XlaComputation> canonical(const xla::XlaComputation& computation,
                                      Traces traces = Traces::kRemoved);

// REQUIRES, for both: the computation is canonical().
std::string hlo_sha256(const xla::XlaComputation& computation);
// For people: one operation a line. With all constants, such as the sizes of kernel calls, unless
// they hold thousands of numbers.
Result<std::string> hlo_text(const xla::XlaComputation& computation);
enum class Constants { kSmall, kAll };  // kSmall: of at most ten numbers
std::string hlo_text(const xla::HloModule& module, Constants constants = Constants::kSmall);

}  // namespace tfaot::toolkit::engine
