// SPDX-License-Identifier: Apache-2.0
// Rows through operations that combine elements along some dimensions: sums, windows, sorting.
#include <algorithm>

#include "compiler/rows/row_flow.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using Sources = RowFlow::Sources;

// All results of an operation that returns one or a tuple of them.
RowFact results(const HloInstruction& one, const RowFact& each) {
  if (!one.shape().IsTuple() || each.cause != nullptr) {
    return each.cause != nullptr ? unknown(one.shape(), each.cause) : each;
  }
  RowFact fact;
  fact.elements.assign(static_cast<std::size_t>(one.shape().tuple_shapes_size()), each);
  return fact;
}

const xla::Shape& result_shape(const HloInstruction& one) {
  return one.shape().IsTuple() ? one.shape().tuple_shapes(0) : one.shape();
}

RowFact reduce(const HloInstruction& one, RowFlow& flow) {
  const auto arrays = one.operand_count() / 2;
  Sources sources;
  for (std::int64_t i = 0; i < arrays; ++i) {
    std::size_t kept = 0;
    for (std::int64_t d = 0; d < one.operand(i)->shape().rank(); ++d) {
      if (contains(one.dimensions(), d)) {
        const auto* cause =
            flow.taken_together(one, i, d, "combines the rows of the batch into one");
        if (cause != nullptr) return unknown(one.shape(), cause);
        continue;
      }
      if (kept == sources.size()) sources.emplace_back();
      sources[kept++].push_back({&flow.of(one.operand(i)), d});
    }
  }
  return results(one, flow.made(one, result_shape(one), sources));
}

// Windows over `arrays` operands; dimensions along which no window moves stay.
RowFact windows(const HloInstruction& one, RowFlow& flow, std::int64_t arrays) {
  Sources sources(static_cast<std::size_t>(one.operand(0)->shape().rank()));
  for (std::int64_t i = 0; i < arrays; ++i) {
    const RowFact& from = flow.of(one.operand(i));
    for (std::size_t d = 0; d < sources.size(); ++d) {
      if (stays_put(one.window().dimensions(static_cast<int>(d)))) {
        sources[d].push_back({&from, static_cast<std::int64_t>(d)});
      } else if (has_rows(from.axes[d])) {
        return flow.mixed(one, "moves a window over the rows of the batch");
      }
    }
  }
  return results(one, flow.made(one, result_shape(one), sources));
}

// Other dimensions are unchanged. The result varies along these, and no rows may be there.
RowFact varies_by(const HloInstruction& one, RowFlow& flow,
                  absl::Span<const std::int64_t> dimensions, const std::string& why) {
  Sources sources(static_cast<std::size_t>(result_shape(one).rank()));
  for (const auto* operand : one.operands()) {
    const RowFact& from = flow.of(operand);
    if (from.axes.size() != sources.size()) {
      if (from.has_rows()) return flow.not_clear(one, "is not known to treat rows alone");
      continue;
    }
    for (std::size_t d = 0; d < sources.size(); ++d) {
      const auto dimension = static_cast<std::int64_t>(d);
      if (!contains(dimensions, dimension)) {
        sources[d].push_back({&from, dimension});
      } else if (has_rows(from.axes[d])) {
        return flow.mixed(one, why);
      }
    }
  }
  return results(one, flow.made(one, result_shape(one), sources));
}

// Factors of matrices, which are the last two dimensions of an operand. Results may have any
// dimensions after the others.
RowFact factors(const HloInstruction& one, RowFlow& flow) {
  const std::int64_t matrices = one.operand(0)->shape().rank() - 2;
  const auto each = [&](const xla::Shape& shape) -> RowFact {
    Sources sources(static_cast<std::size_t>(shape.rank()));
    for (const auto* operand : one.operands()) {
      const RowFact& from = flow.of(operand);
      for (std::int64_t d = 0; d < std::ssize(from.axes); ++d) {
        if (d < matrices && d < shape.rank()) {
          sources[static_cast<std::size_t>(d)].push_back({&from, d});
        } else if (has_rows(from.axes[static_cast<std::size_t>(d)])) {
          return unknown(shape, flow.study().mixing(one, "takes the batch as one matrix"));
        }
      }
    }
    return flow.made(one, shape, sources);
  };
  if (!one.shape().IsTuple()) return each(one.shape());
  RowFact fact;
  for (const auto& shape : one.shape().tuple_shapes()) fact.elements.push_back(each(shape));
  return fact;
}

bool is_factorization(const HloInstruction& one) {
  const auto& target = one.custom_call_target();
  return target == "Qr" || target == "Eigh" || target == "ProductOfElementaryHouseholderReflectors";
}

std::vector<std::int64_t> last_dimensions(const HloInstruction& one, std::int64_t count) {
  std::vector<std::int64_t> last;
  const std::int64_t rank = one.operand(0)->shape().rank();
  for (std::int64_t d = std::max<std::int64_t>(0, rank - count); d < rank; ++d) last.push_back(d);
  return last;
}

}  // namespace

bool stays_put(const xla::WindowDimension& window) {
  return window.size() == 1 && window.stride() == 1 && window.padding_low() == 0 &&
         window.padding_high() == 0 && window.base_dilation() == 1;
}

std::optional<RowFact> visit_sum(const HloInstruction& one, RowFlow& flow) {
  switch (one.opcode()) {
    case HloOpcode::kReduce:
      return reduce(one, flow);
    case HloOpcode::kReduceWindow:
      return windows(one, flow, one.operand_count() / 2);
    case HloOpcode::kSelectAndScatter:
      return windows(one, flow, 2);
    case HloOpcode::kSort:
      return varies_by(one, flow, one.dimensions(), "sorts the rows of the batch");
    case HloOpcode::kTopK:
      return varies_by(one, flow, last_dimensions(one, 1), "picks the largest rows of the batch");
    case HloOpcode::kFft:
      return varies_by(one, flow, last_dimensions(one, std::ssize(one.fft_length())),
                       "transforms along the rows of the batch");
    case HloOpcode::kCholesky:
    case HloOpcode::kTriangularSolve:
      return varies_by(one, flow, last_dimensions(one, 2), "takes the batch as one matrix");
    case HloOpcode::kCustomCall:
      if (one.custom_call_target() == "TopK") {
        return varies_by(one, flow, last_dimensions(one, 1), "picks the largest rows of the batch");
      }
      if (is_factorization(one)) return factors(one, flow);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace tfaot::toolkit::engine
