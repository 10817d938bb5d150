// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

#include "escape.h"
#include "headers.h"
#include "render.h"
#include "templates.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/dtype.h"

namespace tfaot {
namespace {

using kainjow::mustache::object;

const char* enumerator(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "kBool";
    case DType::kInt32:
      return "kInt32";
    case DType::kInt64:
      return "kInt64";
    case DType::kFloat32:
      return "kFloat32";
    case DType::kFloat64:
      break;
  }
  return "kFloat64";
}

// `shape_id` names the constant that holds the row's shape, where there is one.
object tensor_data(const TensorSpec& tensor, const std::string& shape_id) {
  const std::string shape = fmt::format("{}", fmt::join(tensor.row_shape, ", "));
  const bool scalar = tensor.row_shape.empty();
  return {{"comment_name", comment_line(tensor.name)},
          {"c_name", cpp_string(tensor.name)},
          {"dtype", dtype_name(tensor.dtype)},
          {"shape", "[" + shape + "]"},
          {"enumerator", enumerator(tensor.dtype)},
          {"has_shape", !scalar},
          {"shape_id", shape_id},
          {"dimensions", "{" + shape + "}"},
          {"shape_pointer", scalar ? std::string("nullptr") : shape_id},
          {"rank", std::to_string(tensor.row_shape.size())},
          {"row_elements",
           std::to_string(std::accumulate(tensor.row_shape.begin(), tensor.row_shape.end(),
                                          std::int64_t{1}, std::multiplies<>()))}};
}

TemplateData tensors_data(const std::vector<TensorSpec>& tensors, const char* prefix) {
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    list << tensor_data(tensors[i], fmt::format("{}{}Shape", prefix, i));
  }
  return list;
}

// "::tfaot::Tensor<float, 4>", one a line.
std::string tensor_types(const std::vector<TensorSpec>& tensors) {
  std::vector<std::string> types;
  for (const TensorSpec& tensor : tensors) {
    std::string type = fmt::format("::tfaot::Tensor<{}", cpp_type_name(tensor.dtype));
    for (const std::int64_t dimension : tensor.row_shape) type += fmt::format(", {}", dimension);
    types.push_back(type + ">");
  }
  return join(types, ",\n      ");
}

TemplateData lines_data(const std::vector<std::string>& lines) {
  TemplateData list{TemplateData::type::list};
  for (const std::string& line : lines) list << object{{"line", line}};
  return list;
}

TemplateData programs_data(const ModelSpec& spec, const CompiledModel& compiled) {
  TemplateData list{TemplateData::type::list};
  for (const std::int64_t batch_size : compiled.batch_sizes) {
    list << object{{"program", fmt::format("{}_bs{}", spec.model.name, batch_size)}};
  }
  return list;
}

// A declaration of the usage example: "std::vector<float> x0(rows * 4);  // x".
std::string example_tensor(const TensorSpec& tensor, const std::string& variable) {
  std::string elements = "rows";
  for (const std::int64_t dimension : tensor.row_shape) elements += fmt::format(" * {}", dimension);
  // std::vector<bool> is not contiguous.
  const std::string declaration =
      tensor.dtype == DType::kBool
          ? fmt::format("tfaot::Span<bool> {}(your_bools, {});", variable, elements)
          : fmt::format("std::vector<{}> {}({});", cpp_type_name(tensor.dtype), variable, elements);
  const std::string name = comment_line(tensor.name);
  return name.empty() ? declaration : declaration + "  // " + name;
}

TemplateData usage_data(const CompiledModel& compiled, const PackageNames& names) {
  std::vector<std::string> lines = {
      fmt::format("#include \"{}/model.h\"", names.tool),
      fmt::format("tfaot::native::Model<{}> model;  // one per thread", names.cpp_class)};
  const auto add_tensors = [&](const std::vector<TensorSpec>& tensors, const char* prefix) {
    std::vector<std::string> variables;
    for (const TensorSpec& tensor : tensors) {
      variables.push_back(fmt::format("{}{}", prefix, variables.size()));
      lines.push_back(example_tensor(tensor, variables.back()));
    }
    return join(variables, ", ");
  };
  const std::string inputs = add_tensors(compiled.signature.inputs, "x");
  const std::string outputs = add_tensors(compiled.signature.outputs, "y");
  lines.push_back(
      fmt::format("model.run(rows, tfaot::inputs({}), tfaot::outputs({}));", inputs, outputs));
  return lines_data(lines);
}

}  // namespace

std::string model_header(const ModelSpec& spec, const CompiledModel& compiled,
                         const PackageNames& names) {
  const Signature& signature = compiled.signature;
  const bool has_weights = !compiled.weights_object.empty();
  TemplateData weights{TemplateData::type::list};
  if (has_weights) weights << object{{"symbol", compiled.weights_symbol}};
  return render(
      templates::kModelHeader,
      object{{"made_by", names.made_by},
             {"class", names.cpp_class},
             {"namespace", spec.compilation.namespace_name},
             {"name", spec.model.name},
             {"version", spec.model.version},
             {"author", comment_line(spec.model.author)},
             {"has_author", !comment_line(spec.model.author).empty()},
             {"description", lines_data(comment_lines(spec.model.description))},
             {"batch_sizes", list_of(compiled.batch_sizes)},
             {"cpu_levels", join(compiled.cpu_levels, ", ")},
             {"inputs", tensors_data(signature.inputs, "kInput")},
             {"outputs", tensors_data(signature.outputs, "kOutput")},
             {"input_types", tensor_types(signature.inputs)},
             {"output_types", tensor_types(signature.outputs)},
             {"usage", usage_data(compiled, names)},
             {"programs", programs_data(spec, compiled)},
             {"weights", weights},
             {"input_count", std::to_string(signature.inputs.size())},
             {"output_count", std::to_string(signature.outputs.size())},
             {"program_count", std::to_string(compiled.batch_sizes.size())},
             {"weights_pointer", has_weights ? "::" + compiled.weights_symbol : "nullptr"},
             {"weights_bytes", std::to_string(compiled.weights_size)}},
      Escaping::kNone);
}

}  // namespace tfaot
