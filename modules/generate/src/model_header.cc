// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "escape.h"
#include "header_data.h"
#include "headers.h"
#include "templates.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {
namespace {

// "::std::int64_t": a model's namespace may be called std, too.
std::string qualified_type(DType dtype) {
  const std::string type = cpp_type_name(dtype);
  return type.find("::") == std::string::npos ? type : "::" + type;
}

// "::tfaot::Tensor<float, 4>", one a line.
std::string tensor_types(const std::vector<TensorSpec>& tensors) {
  const auto types = mapped(tensors, [](const TensorSpec& tensor) {
    return fmt::format("::tfaot::Tensor<{}{}{}>", qualified_type(tensor.dtype),
                       tensor.row_shape.empty() ? "" : ", ", fmt::join(tensor.row_shape, ", "));
  });
  return join(types, ",\n        ");
}

// "`serving/x:0`: float32 [4]"; free dimensions by name.
std::string tensor_comment(const TensorSpec& tensor, const CompiledModel& compiled) {
  const std::string name = comment_line(tensor.name);
  return fmt::format("{}: {} [{}]", name.empty() ? "(no name)" : "`" + name + "`",
                     word_of(tensor.dtype),
                     comment_line(join(row_shape_texts(tensor, compiled.dimensions), ", ")));
}

// The struct of the inputs or outputs: a member for each.
TemplateObject struct_data(const CompiledModel& compiled, const std::vector<TensorSpec>& tensors,
                           const std::vector<std::string>& members) {
  TemplateData list{TemplateData::type::list};
  std::string names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    names += fmt::format("\"{}\", ", cpp_string(tensors[i].name));
    list << TemplateObject{{"type", qualified_type(tensors[i].dtype)},
                           {"member", members[i]},
                           {"comment", tensor_comment(tensors[i], compiled)}};
  }
  return {{"types", tensor_types(tensors)},
          {"members", list},
          {"names", "{" + names + "nullptr}"},
          {"in_order", join(members, ", ")}};
}

// "rows * 4", or "1" of one number without a batch.
std::string elements_text(const TensorSpec& tensor, BatchMode batch) {
  const std::string row = fmt::format("{}", fmt::join(tensor.row_shape, " * "));
  if (batch == BatchMode::kFirst) return row.empty() ? "rows" : "rows * " + row;
  return row.empty() ? "1" : row;
}

// A declaration of the usage example: "std::vector<float> x_0(rows * 4);  // x:0".
std::string example_tensor(const TensorSpec& tensor, const std::string& variable, BatchMode batch) {
  const std::string elements = elements_text(tensor, batch);
  // std::vector<bool> is not contiguous.
  const std::string declaration =
      tensor.dtype == DType::kBool
          ? fmt::format("tfaot::Span<bool> {}(your_bools, {});", variable, elements)
          : fmt::format("std::vector<{}> {}({});", cpp_type_name(tensor.dtype), variable, elements);
  const std::string name = comment_line(tensor.name);
  return name.empty() || name == variable ? declaration : declaration + "  // " + name;
}

// "{.x = x, .ids = ids}"
std::string designated(const std::vector<std::string>& members,
                       const std::vector<std::string>& variables) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < members.size(); ++i) {
    parts.push_back(fmt::format(".{} = {}", members[i], variables[i]));
  }
  return "{" + join(parts, ", ") + "}";
}

// Calls at the largest sizes, for which the tensors of the example are, and of rows of different
// ones.
void add_sized_calls(std::vector<std::string>& lines, const CompiledModel& compiled,
                     BatchMode batch) {
  const TensorNames members = tensor_members(compiled.signature);
  const TensorNames variables = example_variables(compiled.signature);
  const std::vector<std::string> sizes = size_members(compiled.dimensions);
  const auto largest = mapped(compiled.dimensions,
                              [](const FreeDimension& one) { return std::to_string(one.largest); });
  const std::string tensors = fmt::format("{}, {});", designated(members.inputs, variables.inputs),
                                          designated(members.outputs, variables.outputs));
  lines.push_back(fmt::format("model.run({}, {}, {}", batch == BatchMode::kFirst ? "rows" : "1",
                              designated(sizes, largest), tensors));
  lines.emplace_back(
      "// Rows of different sizes: rows + 1 offsets of each dimension, the first 0.");
  lines.push_back(fmt::format(
      "model.run_ragged(rows, {}, {}",
      designated(sizes, mapped(sizes, [](const std::string& one) { return one + "_offsets"; })),
      tensors));
}

TemplateData usage_data(const CompiledModel& compiled, const PackageNames& names, BatchMode batch) {
  std::vector<std::string> lines = {
      fmt::format("#include \"{}/model.h\"", names.tool),
      fmt::format("tfaot::native::Model<{}> model;  // one for each thread", names.cpp_class)};
  const auto add_tensors = [&lines, batch](const std::vector<TensorSpec>& tensors,
                                           const std::vector<std::string>& variables) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      lines.push_back(example_tensor(tensors[i], variables[i], batch));
    }
  };
  const TensorNames members = tensor_members(compiled.signature);
  const TensorNames variables = example_variables(compiled.signature);
  add_tensors(compiled.signature.inputs, variables.inputs);
  add_tensors(compiled.signature.outputs, variables.outputs);
  if (!compiled.dimensions.empty()) {
    add_sized_calls(lines, compiled, batch);
    return objects_data("line", lines);
  }
  const char* const rows = batch == BatchMode::kFirst ? "rows, " : "";
  lines.push_back(fmt::format("model.run({}{}, {});", rows,
                              designated(members.inputs, variables.inputs),
                              designated(members.outputs, variables.outputs)));
  lines.push_back(fmt::format("model.run({}tfaot::inputs({}), tfaot::outputs({}));  // C++17", rows,
                              join(variables.inputs, ", "), join(variables.outputs, ", ")));
  return objects_data("line", lines);
}

}  // namespace

std::string model_header(const ModelSpec& spec, const CompiledModel& compiled,
                         const PackageNames& names) {
  TemplateObject data = model_data(spec, compiled, names);
  const TensorNames members = tensor_members(compiled.signature);
  data["input_struct"] = struct_data(compiled, compiled.signature.inputs, members.inputs);
  data["output_struct"] = struct_data(compiled, compiled.signature.outputs, members.outputs);
  data["usage"] = usage_data(compiled, names, spec.compilation.batch);
  return render(templates::kModelHeader, data, Escaping::kNone);
}

}  // namespace tfaot::toolkit
