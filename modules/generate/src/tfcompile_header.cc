// SPDX-License-Identifier: Apache-2.0
#include "tfaot/generate/tfcompile_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "escape.h"
#include "header_data.h"
#include "headers.h"
#include "inline_headers.h"
#include "names.h"
#include "templates.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {
namespace {

// tfcompile has no index for scalars and single numbers.
bool has_dimensions(const std::vector<std::int64_t>& shape) {
  return shape.size() > 1 || (shape.size() == 1 && shape[0] != 1);
}

TemplateObject accessor(const TensorSpec& tensor, const std::vector<std::int64_t>& shape,
                        std::size_t index, const std::string& suffix) {
  std::int64_t count = 1;
  std::string parameters;
  std::string element = "0";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    count *= shape[i];
    if (!has_dimensions(shape)) continue;
    parameters += fmt::format("{}::std::size_t dim{}", i == 0 ? "" : ", ", i);
    element = i == 0 ? "dim0" : fmt::format("({}) * {} + dim{}", element, shape[i], i);
  }
  return {{"comment", fmt::format("{}: {} [{}]", comment_line(tensor.name), word_of(tensor.dtype),
                                  list_of(shape))},
          {"suffix", suffix},
          {"type", cpp_type_name(tensor.dtype)},
          {"index", std::to_string(index)},
          {"dimensions", parameters},
          {"element", element},
          {"count", std::to_string(count)},
          {"bytes", std::to_string(count * static_cast<std::int64_t>(size_of(tensor.dtype)))}};
}

// `batch`: the dimensions before a row's. arg0, and also arg_x if the config has a name.
TemplateData accessors(const std::vector<TensorSpec>& tensors,
                       const std::vector<std::int64_t>& batch,
                       const std::vector<std::string>& names) {
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::int64_t> shape = batch;
    shape.insert(shape.end(), tensors[i].row_shape.begin(), tensors[i].row_shape.end());
    list << accessor(tensors[i], shape, i, std::to_string(i));
    if (i < names.size() && !names[i].empty()) {
      list << accessor(tensors[i], shape, i, "_" + names[i]);
    }
  }
  return list;
}

TemplateData classes_data(const ModelSpec& spec, const CompiledModel& compiled,
                          const TfcompileHeader& header, const std::string& build) {
  const std::size_t colons = header.cpp_class.rfind("::");
  const bool global = colons == std::string::npos;
  const std::string space = global ? "" : header.cpp_class.substr(0, colons);
  const std::string name = global ? header.cpp_class : header.cpp_class.substr(colons + 2);
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < compiled.batch_sizes.size(); ++i) {
    const std::int64_t size = compiled.batch_sizes[i];
    const std::vector<std::int64_t> batch(header.fixed_shapes ? 0 : 1, size);
    const std::string suffix = size == header.batch_size ? "" : fmt::format("_bs{}", size);
    list << TemplateObject{
        {"cpp_class", header.cpp_class + suffix},
        {"class", name + suffix},
        {"build", build},
        {"namespace_begin", global ? "" : "namespace " + space + " {\n"},
        {"namespace_end", global ? "" : "\n}  // namespace " + space},
        {"batch_size", std::to_string(size)},
        {"rows", header.fixed_shapes ? "fixed shapes" : fmt::format("batches of {}", size)},
        {"program", std::to_string(i)},
        {"wrapper", cpp_class_of(spec)},
        {"arg_count", std::to_string(compiled.signature.inputs.size())},
        {"result_count", std::to_string(compiled.signature.outputs.size())},
        {"args", accessors(compiled.signature.inputs, batch, header.arg_names)},
        {"results", accessors(compiled.signature.outputs, batch, header.result_names)}};
  }
  return list;
}

struct ModelText {
  std::string text;   // model.h with the headers beside it
  std::string build;  // HeaderFiles::build
};
Result<ModelText> model_text(const ModelSpec& spec, const CompiledModel& compiled) {
  TFAOT_TRY(check_names(spec, {}));
  TFAOT_TRY(check_compiled_model(compiled));
  const Manifest manifest = make_manifest(spec, compiled, "", {});
  HeaderFiles made = model_headers(spec, compiled, package_names(compiled, manifest));
  made.files.push_back(cost_header(manifest));
  HeaderTexts headers;
  for (const GeneratedFile& file : made.files) {
    headers[file.path.substr(file.path.rfind('/') + 1)] = file.text;
  }
  return ModelText{with_inlined_headers(headers.at("model.h"), headers), made.build};
}

Status check_names(const TfcompileHeader& header) {
  for (const auto& names : {header.arg_names, header.result_names}) {
    for (const std::string& name : names) {
      if (name.empty() || is_cpp_identifier("x" + name)) continue;
      return fail(Error(fmt::format("the name '{}' cannot be part of a C++ name", name)));
    }
  }
  return {};
}

}  // namespace

Result<std::string> tfcompile_header(const ModelSpec& spec, const CompiledModel& compiled,
                                     const TfcompileHeader& header) {
  TFAOT_TRY(check_names(header));
  TFAOT_ASSIGN(const ModelText model, model_text(spec, compiled));
  HeaderTexts runtime = header.runtime;
  runtime["all"] =
      "#include \"tfaot/runtime/model.h\"\n#include \"tfaot/runtime/tfcompile_model.h\"\n";
  return render(templates::kTfcompileHeader,
                TemplateObject{{"graph", comment_line(header.graph)},
                               {"wrapper", cpp_class_of(spec)},
                               {"batch_sizes", list_of(compiled.batch_sizes)},
                               {"any_rows",
                                has_coupled_rows(spec, compiled)
                                    ? "compiled sizes only, as rows of a batch depend on each other"
                                    : "any number of rows"},
                               {"cpu_levels", join(compiled.cpu_levels, ", ")},
                               {"runtime", inlined_headers("all", runtime)},
                               {"model", model.text},
                               {"classes", classes_data(spec, compiled, header, model.build)}},
                Escaping::kNone);
}

}  // namespace tfaot::toolkit
