// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/xla_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/hlo.h"
#include "compiler/hlo/loop.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr double kLeastShare = 0.01;
constexpr std::size_t kMostNamed = 8;

// Of a multiplication and an addition.
double multiply_cycles(xla::PrimitiveType type, const ProductSize& size) {
  if (type == xla::S32 || type == xla::C64 || type == xla::C128) return kEigenMultiplyCycles;
  return size.rows == 1 || size.columns == 1 ? kXlaMultiplyCycles : kXlaMatrixCycles;
}

// The sizes of one of `batch` products.
ProductSize size_of_dot(const HloInstruction& dot, std::int64_t& batch) {
  const xla::Shape& left = dot.operand(0)->shape();
  const xla::Shape& right = dot.operand(1)->shape();
  const auto sizes = [&left](const auto& dimensions) {
    std::int64_t all = 1;
    for (const auto dimension : dimensions) all *= left.dimensions(static_cast<int>(dimension));
    return std::max<std::int64_t>(all, 1);
  };
  const auto& numbers = dot.dot_dimension_numbers();
  const std::int64_t depth = sizes(numbers.lhs_contracting_dimensions());
  batch = sizes(numbers.lhs_batch_dimensions());
  return {xla::ShapeUtil::ElementsIn(left) / depth / batch,
          xla::ShapeUtil::ElementsIn(right) / depth / batch, depth,
          xla::ShapeUtil::ByteSizeOfPrimitiveType(dot.shape().element_type())};
}

double convolution_cycles(const HloInstruction& convolution) {
  const xla::Shape& filter = convolution.operand(1)->shape();
  const auto& numbers = convolution.convolution_dimension_numbers();
  const auto outputs =
      filter.dimensions(static_cast<int>(numbers.kernel_output_feature_dimension()));
  const auto each = xla::ShapeUtil::ElementsIn(filter) / std::max<std::int64_t>(outputs, 1);
  return static_cast<double>(xla::ShapeUtil::ElementsIn(convolution.shape())) *
         static_cast<double>(each) * kXlaMultiplyCycles;
}

const char* rounded_share(double share) {
  return share > 0.5 ? "more than half" : share > 0.1 ? "more than a tenth" : "less than a tenth";
}

std::string text_of(const HloInstruction& product) {
  const auto& node = product.metadata();
  if (node.op_name().empty()) return fmt::format("'{}'", product.name());
  return fmt::format("op '{}' (node '{}')", shortened(node.op_type()), shortened(node.op_name()));
}

// Products below `computation`, each with how often it runs.
void collect(const xla::HloComputation& computation, double runs,
             std::vector<std::pair<const HloInstruction*, double>>& found) {
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    switch (one->opcode()) {
      case HloOpcode::kDot:
      case HloOpcode::kConvolution:
        found.emplace_back(one, runs);
        break;
      case HloOpcode::kWhile:
        collect(*one->while_body(),
                runs * static_cast<double>(loop_turns(*one).value_or(kAssumedTurns)), found);
        break;
      case HloOpcode::kConditional:
        for (const auto* branch : one->branch_computations()) collect(*branch, runs, found);
        break;
      case HloOpcode::kCall:
        collect(*one->to_apply(), runs, found);
        break;
      default:
        break;
    }
  }
}

}  // namespace

double xla_product_cycles(const Machine& machine, const HloInstruction& product) {
  if (product.opcode() == HloOpcode::kConvolution) return convolution_cycles(product);
  std::int64_t batch = 1;
  const ProductSize size = size_of_dot(product, batch);
  const auto type = product.shape().element_type();
  const auto products = static_cast<double>(batch);
  if (has_kernels(type)) return products * product_cycles(machine, size);
  return products * multiply_cycles(type, size) * static_cast<double>(size.rows) *
         static_cast<double>(size.columns) * static_cast<double>(size.depth);
}

std::vector<XlaProduct> products_of_xla(const xla::HloModule& module, const CodeSize& code) {
  std::vector<std::pair<const HloInstruction*, double>> found;
  collect(*module.entry_computation(), 1, found);
  if (found.empty()) return {};
  const auto costs = instruction_costs(module, code);
  const auto all = static_cast<double>(static_cost(module, code).picoseconds);
  std::vector<XlaProduct> products;
  for (const auto& [one, runs] : found) {
    const double share = std::min(1.0, costs.at(one) * runs / all);
    if (share < kLeastShare) continue;
    products.push_back({text_of(*one), share});
  }
  return products;
}

std::string warning_of(const std::vector<XlaProduct>& products) {
  std::string text;
  for (std::size_t i = 0; i < std::min(products.size(), kMostNamed); ++i) {
    text += fmt::format("{}{}: {} of the estimated time", i == 0 ? "" : "; ", products[i].text,
                        rounded_share(products[i].share));
  }
  if (products.size() > kMostNamed) {
    text += fmt::format(" and {} more", products.size() - kMostNamed);
  }
  return text.empty()
             ? text
             : "XLA computes products for which tfaot has no kernel, which is slower: " + text;
}

}  // namespace tfaot::toolkit::engine
