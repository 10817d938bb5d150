// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/constant_text.h"

#include <array>

#include "hlo/constant_calls.h"
#include "lowering/conversions.h"
#include "lowering/weight_rule.h"
#include "stablehlo/read_stablehlo.h"

namespace tfaot::toolkit::engine {
namespace {

bool is_weight(const TensorText& tensor) {
  return is_weight_constant(dtype_of(type_of_text(tensor.element)), tensor.sizes);
}

// What is around "dense<...> : tensor<...>" in an operation that makes a constant, and a call.
struct ConstantForm {
  std::string_view head;
  std::string_view tail;
  std::string_view call_head;
  std::string_view call_tail;
  std::string_view type_head;  // of the result, if the call has to say it
};
constexpr std::array kForms = {
    ConstantForm{"stablehlo.constant ", "", "stablehlo.custom_call @", "() : () -> ", "tensor<"},
    ConstantForm{"\"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<", ">}> ",
                 "\"vhlo.custom_call_v1\"() <{api_version = #vhlo<api_version_v1 "
                 "API_VERSION_ORIGINAL>, backend_config = #vhlo.string_v1<\"\">, call_target_name "
                 "= #vhlo.string_v1<\"",
                 "\">, called_computations = #vhlo.array_v1<[]>, has_side_effect = "
                 "#vhlo.bool_v1<false>, operand_layouts = #vhlo.array_v1<[]>, "
                 "output_operand_aliases = #vhlo.array_v1<[]>, result_layouts = "
                 "#vhlo.array_v1<[]>}> ",
                 ""},
};

struct FoundConstant {
  ConstantText constant;
  std::size_t end = 0;    // of the operation, as far as the form goes
  std::string_view type;  // "tensor<...>"
};

std::optional<FoundConstant> constant_at(std::string_view text, std::size_t at,
                                         const ConstantForm& form) {
  FoundConstant found;
  found.constant.value = at + form.head.size();
  constexpr std::string_view kDense = "dense<";
  constexpr std::string_view kColon = " : ";
  if (!text.substr(found.constant.value).starts_with(kDense)) return std::nullopt;
  std::size_t end = after_brackets(text, found.constant.value + kDense.size() - 1);
  found.constant.size = end - found.constant.value;
  if (!text.substr(end).starts_with(kColon)) return std::nullopt;
  const std::size_t type = end + kColon.size();
  if (!text.substr(type).starts_with("tensor<")) return std::nullopt;
  end = after_brackets(text, type + 6);
  found.type = text.substr(type, end - type);
  if (!text.substr(end).starts_with(form.tail)) return std::nullopt;
  const auto tensor = tensor_in(found.type);
  if (!tensor || !is_weight(*tensor)) return std::nullopt;
  found.constant.type = *tensor;
  found.end = end + form.tail.size();
  return found;
}

}  // namespace

LiftedText lift_constants(std::string_view text) {
  LiftedText lifted;
  std::size_t done = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const ConstantForm* form = nullptr;
    for (const ConstantForm& one : kForms) {
      if (text[at] == one.head.front() && text.substr(at).starts_with(one.head)) form = &one;
    }
    const auto found = form == nullptr ? std::nullopt : constant_at(text, at, *form);
    if (!found) {
      at = text[at] == '"' ? after_quotes(text, at) : at + 1;
      continue;
    }
    lifted.text += text.substr(done, at - done);
    lifted.text += form->call_head;
    lifted.text += constant_call(lifted.constants.size());
    lifted.text += form->call_tail;
    if (!form->type_head.empty()) lifted.text += found->type;
    lifted.constants.push_back(found->constant);
    at = done = found->end;
  }
  lifted.text += text.substr(done);
  return lifted;
}

}  // namespace tfaot::toolkit::engine
