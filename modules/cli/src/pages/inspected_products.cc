// SPDX-License-Identifier: Apache-2.0
#include "pages/inspected_products.h"

#include <set>
#include <string>

#include "text/inspection_report.h"
#include "tfaot/base/text.h"
#include "tfaot/inspect/graph_summary.h"

namespace tfaot::toolkit {
namespace {

std::set<std::string> weight_names(const std::vector<WeightOrigin>& weights) {
  std::set<std::string> names;
  for (const WeightOrigin& weight : weights) {
    names.insert(weight.variables.begin(), weight.variables.end());
  }
  return names;
}

}  // namespace

report::Section products_section(const HloGraph& before, const HloGraph& after,
                                 const std::vector<WeightOrigin>& weights) {
  report::Table table{.caption = "Products, convolutions and windows",
                      .columns = {{"in the model", report::ColumnKind::kCode},
                                  {"operation", report::ColumnKind::kCode},
                                  {"result", report::ColumnKind::kCode},
                                  {"became"},
                                  {"sizes"}}};
  for (const ProductFate& fate : product_fates(before, after, weight_names(weights))) {
    const HloNode& node = *fate.product;
    std::vector<std::string> became;
    std::vector<std::string> sizes;
    bool is_kernel = false;
    for (const HloNode* made : fate.became) {
      is_kernel = is_kernel || made->kind == NodeKind::kKernel;
      became.push_back(made->kind == NodeKind::kKernel ? node_title(*made)
                                                       : made->opcode + ", made by XLA");
      sizes.push_back(made->detail);
    }
    table.rows.push_back(
        {{short_origin(node.origin)},
         {node.opcode},
         {node.shape},
         {.text = became.empty() ? "computed ahead, or removed" : join(became, "\n"),
          .verdict = became.empty() ? report::Verdict::kNone
                     : is_kernel    ? report::Verdict::kGood
                                    : report::Verdict::kWarning},
         {is_kernel ? join(sizes, "\n") : ""}});
  }
  return {"Products", {}, {std::move(table)}};
}

}  // namespace tfaot::toolkit
