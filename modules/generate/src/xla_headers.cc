// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "header_data.h"
#include "headers.h"
#include "templates.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

// "{4, 2}"
std::string counts(const std::vector<TensorSpec>& tensors, std::int64_t rows) {
  const auto numbers = mapped(tensors, [&](const TensorSpec& tensor) {
    return row_elements(tensor) * static_cast<std::uint64_t>(rows);
  });
  return fmt::format("{{{}}}", fmt::join(numbers, ", "));
}

// Of the accessors by position. `element`: "(dim0 * 4 + dim1) * 3 + dim2".
TemplateData accessors_data(const std::vector<TensorSpec>& tensors, std::int64_t batch_size) {
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<std::int64_t>& shape = tensors[i].row_shape;
    std::string parameters = "::std::size_t dim0";
    std::string element = "dim0";
    for (std::size_t d = 0; d < shape.size(); ++d) {
      parameters += fmt::format(", ::std::size_t dim{}", d + 1);
      element =
          fmt::format("{} * {} + dim{}", d == 0 ? element : "(" + element + ")", shape[d], d + 1);
    }
    list << TemplateObject{{"index", std::to_string(i)},
                           {"type", cpp_type_name(tensors[i].dtype)},
                           {"parameters", parameters},
                           {"element", element},
                           {"count", std::to_string(row_elements(tensors[i]) *
                                                    static_cast<std::uint64_t>(batch_size))}};
  }
  return list;
}

// The tables of one kind of tensors, for every batch size.
TemplateData functions_data(const CompiledModel& compiled, const ModelSpec& spec) {
  const Signature& signature = compiled.signature;
  return list_data(compiled.batch_sizes, [&](std::int64_t size) {
    return TemplateObject{
        {"program", program_name(spec.model.name, size)},
        {"batch_size", std::to_string(size)},
        {"input_counts", fmt::format("{{{}, {}}}", size, counts(signature.inputs, size))},
        {"output_counts", fmt::format("{{{}, {}}}", size, counts(signature.outputs, size))}};
  });
}

// CMSSW has names for vectors of five types.
std::string arrays_type(DType dtype) {
  static const std::map<DType, std::string> named = {{DType::kBool, "tfaot::BoolArrays"},
                                                     {DType::kInt32, "tfaot::Int32Arrays"},
                                                     {DType::kInt64, "tfaot::Int64Arrays"},
                                                     {DType::kFloat32, "tfaot::FloatArrays"},
                                                     {DType::kFloat64, "tfaot::DoubleArrays"}};
  const auto found = named.find(dtype);
  if (found != named.end()) return found->second;
  return fmt::format("std::vector<std::vector<{}>>", cpp_type_name(dtype));
}

TemplateData cmssw_usage_data(const CompiledModel& compiled, const PackageNames& names) {
  std::vector<std::string> lines = {fmt::format("#include \"{}/model.h\"", names.tool),
                                    fmt::format("tfaot::Model<{}> model;", names.cpp_class)};
  const TensorNames variables = example_variables(compiled.signature);
  for (std::size_t i = 0; i < compiled.signature.inputs.size(); ++i) {
    const TensorSpec& tensor = compiled.signature.inputs[i];
    lines.push_back(fmt::format("{} {}(rows, std::vector<{}>({}));", arrays_type(tensor.dtype),
                                variables.inputs[i], cpp_type_name(tensor.dtype),
                                row_elements(tensor)));
  }
  const std::vector<std::string> types =
      mapped(compiled.signature.outputs,
             [&](const TensorSpec& tensor) { return arrays_type(tensor.dtype); });
  lines.push_back(fmt::format("auto [{}] = model.run<{}>(rows, {});", join(variables.outputs, ", "),
                              join(types, ", "), join(variables.inputs, ", ")));
  return objects_data("line", lines);
}

}  // namespace

std::string xla_program_header(const ModelSpec& spec, const CompiledModel& compiled,
                               const PackageNames& names, std::int64_t batch_size) {
  const Signature& signature = compiled.signature;
  return render(templates::kXlaProgramHeader,
                TemplateObject{{"made_by", names.made_by},
                               {"class", names.cpp_class},
                               {"namespace", spec.compilation.namespace_name},
                               {"build", kUnnamedBuild},
                               {"name", spec.model.name},
                               {"batch_size", std::to_string(batch_size)},
                               {"input_count", std::to_string(signature.inputs.size())},
                               {"output_count", std::to_string(signature.outputs.size())},
                               {"inputs", accessors_data(signature.inputs, batch_size)},
                               {"outputs", accessors_data(signature.outputs, batch_size)}},
                Escaping::kNone);
}

std::string xla_model_header(const ModelSpec& spec, const CompiledModel& compiled,
                             const PackageNames& names) {
  TemplateObject data = model_data(spec, compiled, names);
  data["usage"] = cmssw_usage_data(compiled, names);
  data["programs"] = functions_data(compiled, spec);
  data["batch_size_list"] = "{" + list_of(compiled.batch_sizes) + "}";
  data["first_batch_size"] = std::to_string(compiled.batch_sizes.front());
  data["input_rows"] = counts(compiled.signature.inputs, 1);
  data["output_rows"] = counts(compiled.signature.outputs, 1);
  return render(templates::kXlaModelHeader, data, Escaping::kNone);
}

std::string tables_header(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names) {
  return render(templates::kTablesHeader, model_data(spec, compiled, names), Escaping::kNone);
}

}  // namespace tfaot::toolkit
