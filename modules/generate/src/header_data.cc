// SPDX-License-Identifier: Apache-2.0
#include "header_data.h"

#include <fmt/format.h>

#include <set>

#include "escape.h"
#include "headers.h"
#include "templates.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpp_names.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {
namespace {

std::string free_name(const char* prefix, std::size_t tensor) {
  return fmt::format("{}{}Sizes", prefix, tensor);
}

// `shape_id` names the constant that holds the row's shape, where there is one, `free_id` that with
// the formulas of its sizes.
TemplateObject tensor_data(const TensorSpec& tensor, const std::string& shape_id,
                           const std::string& free_id, const std::vector<FreeDimension>& sized) {
  const std::string shape = fmt::format("{}", fmt::join(tensor.row_shape, ", "));
  const bool scalar = tensor.row_shape.empty();
  return {{"comment_name", comment_line(tensor.name)},
          {"c_name", cpp_string(tensor.name)},
          {"dtype", word_of(tensor.dtype)},
          {"shape", "[" + comment_line(join(row_shape_texts(tensor, sized), ", ")) + "]"},
          {"enumerator", enumerator(word_of(tensor.dtype))},
          {"has_shape", !scalar},
          {"shape_id", shape_id},
          {"dimensions", "{" + shape + "}"},
          {"shape_pointer", scalar ? std::string("nullptr") : shape_id},
          {"rank", std::to_string(tensor.row_shape.size())},
          {"row_elements", std::to_string(row_elements(tensor))},
          {"is_free", !tensor.free_shape.empty()},
          {"free_shape", free_id}};
}

std::string steps_text(const SizeSteps& steps) {
  return fmt::format("{{{}, {}, {}}}", steps.smallest, steps.largest, steps.step);
}

TemplateData formulas_data(const TensorSpec& tensor, const std::string& id,
                           std::size_t dimensions) {
  TemplateData formulas{TemplateData::type::list};
  for (std::size_t d = 0; d < tensor.free_shape.size(); ++d) {
    const std::string formula_id = fmt::format("{}_{}", id, d);
    TemplateData terms{TemplateData::type::list};
    for (std::size_t t = 0; t < tensor.free_shape[d].terms.size(); ++t) {
      const SizeTerm& term = tensor.free_shape[d].terms[t];
      std::vector<std::int64_t> powers = term.powers;
      powers.resize(dimensions);
      std::vector<SizeSteps> within = term.within;
      if (!within.empty()) within.resize(dimensions);
      terms << TemplateObject{{"id", fmt::format("{}_{}", formula_id, t)},
                              {"factor", std::to_string(term.factor)},
                              {"powers", fmt::format("{{{}}}", fmt::join(powers, ", "))},
                              {"has_steps", !within.empty()},
                              {"steps", join(mapped(within, steps_text), ", ")}};
    }
    formulas << TemplateObject{{"id", formula_id},
                               {"terms", terms},
                               {"term_count", std::to_string(tensor.free_shape[d].terms.size())},
                               {"divisor", std::to_string(tensor.free_shape[d].divisor)}};
  }
  return formulas;
}

void add_free_tensors(TemplateData& list, const std::vector<TensorSpec>& tensors,
                      const char* prefix, std::size_t dimensions) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].free_shape.empty()) continue;
    const std::string id = free_name(prefix, i);
    list << TemplateObject{{"id", id}, {"formulas", formulas_data(tensors[i], id, dimensions)}};
  }
}

TemplateData dimensions_data(const CompiledModel& compiled,
                             const std::vector<std::string>& members) {
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const FreeDimension& dimension = compiled.dimensions[i];
    list << TemplateObject{{"member", members[i]},
                           {"c_name", cpp_string(dimension.name)},
                           {"comment_name", comment_line(dimension.name)},
                           {"smallest", std::to_string(dimension.smallest)},
                           {"largest", std::to_string(dimension.largest)}};
  }
  return list;
}

TemplateData tensors_data(const std::vector<TensorSpec>& tensors, const char* prefix,
                          const std::vector<FreeDimension>& sized) {
  TemplateData list{TemplateData::type::list};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    list << tensor_data(tensors[i], fmt::format("{}{}Shape", prefix, i), free_name(prefix, i),
                        sized);
  }
  return list;
}

std::vector<std::string> members_of(const std::vector<TensorSpec>& tensors, const char* kind) {
  return member_names(mapped(tensors, &TensorSpec::name), kind);
}

TemplateData programs_data(const ModelSpec& spec, const CompiledModel& compiled) {
  return list_data(compiled.batch_sizes, [&](std::int64_t batch_size) {
    return TemplateObject{{"program", program_name(spec.model.name, batch_size)},
                          {"batch_size", std::to_string(batch_size)},
                          {"tables", tables_name(spec, batch_size)}};
  });
}

}  // namespace

std::string enumerator(std::string_view word) {
  std::string name = "k";
  for (const std::string& part : split_words(word, "_")) {
    name += upper_case(part.substr(0, 1)) + part.substr(1);
  }
  return name;
}

TensorNames tensor_members(const Signature& signature) {
  return {members_of(signature.inputs, "input"), members_of(signature.outputs, "output")};
}

std::vector<std::string> size_members(const std::vector<FreeDimension>& sized) {
  return member_names(mapped(sized, &FreeDimension::name), "size");
}

TensorNames example_variables(const Signature& signature) {
  TensorNames variables = tensor_members(signature);
  std::set<std::string> taken = {"model", "rows", "std", "tfaot", "your_bools"};
  for (std::vector<std::string>* names : {&variables.inputs, &variables.outputs}) {
    for (std::string& name : *names) {
      std::string free = name;
      for (int i = 2; !taken.insert(free).second; ++i) free = fmt::format("{}_{}", name, i);
      name = free;
    }
  }
  return variables;
}

std::string tables_name(const ModelSpec& spec, std::int64_t batch_size) {
  const bool cmssw = spec.compilation.headers == HeadersMode::kCmssw;
  return program_name(spec.model.name, batch_size) + (cmssw ? "_tables" : "");
}

bool has_coupled_rows(const ModelSpec& spec, const CompiledModel& compiled) {
  return compiled.coupled_rows || spec.compilation.rows == RowsMode::kCoupled;
}

TemplateObject model_data(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names) {
  const Signature& signature = compiled.signature;
  const bool has_weights = !compiled.weights_object.empty();
  TemplateData weights{TemplateData::type::list};
  if (has_weights) weights << TemplateObject{{"symbol", compiled.weights_symbol}};
  const std::vector<std::string> sizes = size_members(compiled.dimensions);
  const std::string cast = "static_cast<::std::int64_t>(";
  TemplateData free_tensors{TemplateData::type::list};
  add_free_tensors(free_tensors, signature.inputs, "kInput", compiled.dimensions.size());
  add_free_tensors(free_tensors, signature.outputs, "kOutput", compiled.dimensions.size());
  const std::string author = comment_line(spec.model.author);
  TemplateObject data{{"made_by", names.made_by},
                      {"tool", names.tool},
                      {"class", names.cpp_class},
                      {"namespace", spec.compilation.namespace_name},
                      {"build", kUnnamedBuild},
                      {"name", spec.model.name},
                      {"version", spec.model.version},
                      {"author", author},
                      {"has_author", !author.empty()},
                      {"description", objects_data("line", comment_lines(spec.model.description))},
                      {"batch_sizes", list_of(compiled.batch_sizes)},
                      {"cpu_levels", join(compiled.cpu_levels, ", ")},
                      {"has_inputs", !signature.inputs.empty()},
                      {"inputs", tensors_data(signature.inputs, "kInput", compiled.dimensions)},
                      {"outputs", tensors_data(signature.outputs, "kOutput", compiled.dimensions)},
                      {"programs", programs_data(spec, compiled)},
                      {"weights", weights},
                      {"input_count", std::to_string(signature.inputs.size())},
                      {"output_count", std::to_string(signature.outputs.size())},
                      {"program_count", std::to_string(compiled.batch_sizes.size())},
                      {"has_free", !compiled.dimensions.empty()},
                      {"dimensions", dimensions_data(compiled, sizes)},
                      {"dimension_count", std::to_string(compiled.dimensions.size())},
                      {"free_tensors", free_tensors},
                      {"numbers_in_order", "{" + cast + join(sizes, "), " + cast) + ")}"},
                      {"offsets_in_order", "{" + join(sizes, ", ") + "}"},
                      {"weights_pointer", has_weights ? "::" + compiled.weights_symbol : "nullptr"},
                      {"weights_bytes", std::to_string(compiled.weights_size)},
                      {"has_batch", spec.compilation.batch == BatchMode::kFirst},
                      {"coupled", has_coupled_rows(spec, compiled)},
                      {"coupled_rows", has_coupled_rows(spec, compiled) ? "true" : "false"},
                      {"record_version", std::to_string(names.record.version)},
                      {"record_hash", names.record.hash}};
  data["runtime_check"] = render(templates::kRuntimeCheck,
                                 TemplateObject{{"tables_number", TFAOT_TABLES},
                                                {"tool", names.tool},
                                                {"toolkit_version", names.toolkit_version}},
                                 Escaping::kNone);
  data["tables"] = render(templates::kModelTables, data, Escaping::kNone);
  return data;
}

}  // namespace tfaot::toolkit
