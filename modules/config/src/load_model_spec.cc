// SPDX-License-Identifier: Apache-2.0
#include "yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "check_model.h"
#include "problems.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/config/initial_config.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/model_files.h"
#include "tfaot/records/names.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {
namespace {

// The options of a command in the form of a file's values, so that the same rules check both.

YAML::Node text_node(const std::string& text) {
  YAML::Node node(text);
  node.SetTag("!");  // a text even if it looks like a number
  return node;
}

Values values_of(const ConfigOverrides& overrides) {
  Values values;
  const auto add = [&](const std::string& path, const std::string& option, const YAML::Node& node) {
    values.emplace(path, Value{node, YAML::Mark::null_mark(), option});
  };
  const auto add_word = [&](const std::string& path, const std::string& option, auto word) {
    if (word) add(path, option, text_node(word_of(*word)));
  };
  const auto add_text = [&](const std::string& path, const std::string& option,
                            const std::string& text) {
    if (!text.empty()) add(path, option, text_node(text));
  };
  const auto add_list = [&](const std::string& path, const std::string& option,
                            const std::vector<YAML::Node>& items) {
    if (!items.empty()) add(path, option, YAML::Node(items));
  };
  // A whole number is a fixed size, all else a free one.
  YAML::Node sizes(YAML::NodeType::Map);
  YAML::Node ranges(YAML::NodeType::Map);
  for (const std::string& one : overrides.dimensions) {
    const std::size_t mark = one.rfind('=');
    const std::string text = mark == std::string::npos ? "" : one.substr(mark + 1);
    const bool is_free = !text.empty() && !parse_number<std::int64_t>(text);
    (is_free ? ranges : sizes)
        .force_insert(text_node(one.substr(0, mark)),
                      mark == std::string::npos ? YAML::Node() : YAML::Node(text));
  }
  if (sizes.size() > 0) add("model.dimensions", "--dimension", sizes);
  if (ranges.size() > 0) add("compilation.dimensions", "--dimension", ranges);
  add_list("compilation.batch_sizes", "--batch-sizes",
           mapped(overrides.batch_sizes, [](const auto& size) { return YAML::Node(size); }));
  add_list("compilation.cpu_levels", "--cpu-levels", mapped(overrides.cpu_levels, text_node));
  add_text("compilation.namespace", "--namespace", overrides.namespace_name);
  add_text("compilation.target_triple", "--target-triple", overrides.target_triple);
  add_word("model.opset", "--opset", overrides.opset);
  add_word("compilation.batch", "--batch", overrides.batch);
  add_word("compilation.weights", "--weights", overrides.weights);
  add_word("compilation.weights_type", "--weights-type", overrides.weights_type);
  add_word("compilation.compute", "--compute", overrides.compute);
  add_word("compilation.optimize", "--optimize", overrides.optimize);
  add_word("compilation.headers", "--headers", overrides.headers);
  add_word("compilation.rows", "--rows", overrides.rows);
  return values;
}

// Where the model is according to the config, and whether it is there.

ModelFormat format_in(const Values& values) { return word_at<ModelFormat>(values, "model.format"); }

// The key of a model's source is the format's word.
std::string key_of(ModelFormat format) { return std::string("model.") + word_of(format); }

std::string source_key(const Values& values) { return key_of(format_in(values)); }

// What to write for a file: "for an ONNX model write 'format: onnx' and 'onnx: PATH'".
std::string how_to_name(ModelFormat format) {
  return fmt::format("for {} write 'format: {}' and '{}: PATH'", one_of(format), word_of(format),
                     word_of(format));
}

void add_hints(const FileSystem& fs, const Path& path, const std::string& text, Error& error) {
  if (text.starts_with("~")) error.note("'~' is not expanded; write the whole path");
  if (text.find('$') != std::string::npos) {
    error.note("variables such as '$HOME' are not expanded; write the whole path");
  }
  const auto names = fs.list(path.parent_path());
  if (!names) {
    error.note("the folder " + path.parent_path().string() + " is missing, too");
  } else if (const auto match = closest_match(path.filename().string(), *names)) {
    error.note(fmt::format("did you mean '{}' in the same folder?", *match));
  }
}

void check_saved_model(const FileSystem& fs, const Path& path, FileKind kind, Error& error) {
  if (kind != FileKind::kDirectory) {
    const ModelFormat meant = format_of_file(path).value_or(ModelFormat::kFrozenGraph);
    error.note("give the folder that holds saved_model.pb; " + how_to_name(meant));
    return;
  }
  const auto names = fs.list(path);
  error.note(!names           ? names.error().message()
             : names->empty() ? "the folder is empty"
                              : "the folder holds: " + join(*names, ", "));
}

// The model's folder or file as written in the config.
Path written_source_of(const Values& values) {
  return node_or_default(values, source_key(values)).Scalar();
}

// The model's folder or file: absolute, normalised, without a trailing slash.
Path source_of(const Values& values, const Path& config_file) {
  const Path path = (config_file.parent_path() / written_source_of(values)).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void check_source(const FileSystem& fs, const Path& config_file, const Values& values,
                  Problems& problems) {
  const std::string key = source_key(values);
  const Value* const model = good_value(values, "model");
  if (model == nullptr || !is_usable(values, "model.format") || !is_usable(values, key)) return;
  const auto given = values.find(key);
  const YAML::Mark mark = given == values.end() ? model->key : given->second.node.Mark();
  const std::string text = node_or_default(values, key).Scalar();
  const std::string label = given == values.end() ? key + " (default)" : key;
  const Path path = source_of(values, config_file);
  const FileKind kind = fs.kind(path, Links::kFollow);
  const auto add = [&](const std::string& what) -> Error& {
    return problems.add(mark, fmt::format("{}: '{}' {}", label, text, what))
        .note("it leads to " + path.string());
  };
  if (const auto seen = fs.look(path); !seen) {
    add("cannot be inspected").note(seen.error().text());
  } else if (kind == FileKind::kMissing && *seen == FileKind::kSymlink) {
    const auto target = fs.read_symlink(path);
    add(target ? fmt::format("is a link to '{}', which is missing", target->string())
               : "is a broken link");
  } else if (kind == FileKind::kMissing) {
    add_hints(fs, path, text, add("is missing"));
  } else if (const ForeignModel* const foreign = foreign_model(fs, path)) {
    add(fmt::format("is {}", foreign->what)).note(foreign->next);
  } else if (const ModelFormat format = format_in(values); format != ModelFormat::kSavedModel) {
    if (kind != FileKind::kFile) {
      add("is not a file")
          .note(fmt::format("give the file of the {}; {}", name_of(format),
                            how_to_name(ModelFormat::kSavedModel)));
    }
  } else if (kind != FileKind::kDirectory) {
    check_saved_model(fs, path, kind, add("is not a folder"));
  } else if (!holds_saved_model(fs, path)) {
    const bool is_there = fs.kind(path / "saved_model.pb") != FileKind::kMissing;
    check_saved_model(fs, path, kind,
                      add(is_there ? "has a saved_model.pb that is not a file, or is a broken link"
                                   : "holds neither saved_model.pb nor saved_model.pbtxt"));
  }
}

}  // namespace
}  // namespace tfaot::toolkit::config

namespace tfaot::toolkit {
namespace {

using config::Problems;
using config::ValueChecker;
using config::Values;

Result<YAML::Node> read_config(const FileSystem& fs, const Path& file) {
  const Location where{.file = file.string()};
  if (fs.kind(file) == FileKind::kMissing) {
    return fail(Error::at(where, "the config file is missing")
                    .note("it is usually called aot_config.yaml; see docs/config.md"));
  }
  if (is_folder(fs, file)) {
    return fail(Error::at(where, "the config is a folder, not a file")
                    .note("give the file in it, usually aot_config.yaml"));
  }
  if (const ForeignModel* const foreign = foreign_model(fs, file)) {
    return fail(Error::at(where, fmt::format("this is {}, not a config", foreign->what))
                    .note(foreign->next));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kConfigLimit));
  if (text.find('\0') != std::string::npos) {
    const auto format = format_of_file(file);
    const bool is_model = format && *format != ModelFormat::kFrozenGraph;
    return fail(
        Error::at(where, "the config is not a text file")
            .note(is_model ? "this is a model, which needs no config: 'tfaot compile MODEL -o OUT'"
                           : "give the file that describes the model, usually aot_config.yaml"));
  }
  TFAOT_ASSIGN(YAML::Node root, config::parse_yaml(text, file.string()));
  if (!root.IsMap()) {
    return fail(
        Error::at(config::location_of(file.string(), root.Mark()),
                  fmt::format("the config is {}, but it must be a map", config::describe(root)))
            .note("it needs the keys 'model' and 'compilation'"));
  }
  return root;
}

bool says_no_batch(const YAML::Node& root, const Values& options) {
  const auto option = options.find("compilation.batch");
  const YAML::Node section = root["compilation"];
  const YAML::Node batch = option != options.end()      ? option->second.node
                           : section && section.IsMap() ? section["batch"]
                                                        : YAML::Node();
  return batch && batch.IsScalar() && batch.Scalar() == word_of(BatchMode::kNone);
}

// The file's sizes with those of the option in their place, or added.
YAML::Node merged_sizes(const Values& values, const std::string& path, const YAML::Node& option) {
  const config::Value* const given = config::good_value(values, path);
  if (given == nullptr) return option;
  YAML::Node merged = YAML::Clone(given->node);
  for (const auto& entry : option) merged[entry.first.Scalar()] = entry.second;
  return merged;
}

// The values of the file and of the options; every fault goes to `problems`.
Values checked_values(const YAML::Node& root, Values options, Problems& problems) {
  std::set<std::string> given;
  for (const auto& [path, value] : options) given.insert(path);
  if (says_no_batch(root, options)) given.insert("compilation.batch_sizes");
  if (given.count("compilation.batch_sizes")) given.insert("compilation");
  ValueChecker checker(problems, given);
  Values values;
  checker.check_map("", root, root.Mark(), values);
  for (auto& [path, value] : options) {
    const ConfigKey& key = config_key(path);
    value.good = checker.check_value(key, value);
    const bool is_merged = key.type == KeyType::kSizes || key.type == KeyType::kRanges;
    if (is_merged) value.node = merged_sizes(values, path, value.node);
    values.erase(path);  // assigning would change the node in the file's tree, and its aliases
    values.emplace(path, value);
  }
  return values;
}

std::string text_of(const Values& values, const std::string& path) {
  return config::node_or_default(values, path).Scalar();
}

std::vector<std::string> texts_of(const Values& values, const std::string& path) {
  return mapped(config::node_or_default(values, path),
                [&](const YAML::Node& item) { return item.Scalar(); });
}

// `batch`: the shapes start with it, or there is none.
FrozenInput frozen_input_of(const YAML::Node& item, BatchMode batch) {
  FrozenInput input;
  input.name = item.IsMap() ? item["name"].Scalar() : item.Scalar();
  if (!item.IsMap()) return input;
  if (const YAML::Node dtype = item["dtype"]; dtype && !dtype.IsNull()) {
    input.dtype = parse_word<DType>(dtype.Scalar());
  }
  if (const YAML::Node shape = item["shape"]; shape && !shape.IsNull()) {
    input.row_shape.emplace();
    for (std::size_t i = batch == BatchMode::kFirst ? 1 : 0; i < shape.size(); ++i) {
      input.row_shape->push_back(shape[i].as<std::int64_t>());
    }
  }
  return input;
}

// Sorted by name.
std::vector<DimensionSize> sizes_of(const Values& values, const std::string& path) {
  std::vector<DimensionSize> sizes;
  for (const auto& entry : config::node_or_default(values, path)) {
    sizes.push_back({entry.first.Scalar(), entry.second.as<std::int64_t>()});
  }
  std::ranges::sort(sizes, {}, &DimensionSize::name);
  return sizes;
}

// In the order of the config: members of a model's `Sizes` come so.
std::vector<FreeDimension> ranges_of(const Values& values, const std::string& path) {
  std::vector<FreeDimension> dimensions;
  const YAML::Node node = config::node_or_default(values, path);
  for (const auto& entry : node) {
    const std::string text = entry.second.Scalar();
    const auto own = config::size_range(text);
    const auto range = own ? own : config::size_range(node[text].Scalar());
    dimensions.push_back({entry.first.Scalar(), range->smallest, range->largest, own ? "" : text});
  }
  return dimensions;
}

std::vector<ModelConstant> constants_of(const Values& values) {
  return mapped(config::node_or_default(values, "model.constants"), [&](const auto& entry) {
    return config::constant_of(entry.first.Scalar(), entry.second);
  });
}

// 0 if it was not given.
std::int64_t whole_number_of(const Values& values, const std::string& path) {
  const auto given = values.find(path);
  return given == values.end() ? 0 : given->second.node.as<std::int64_t>();
}

ModelSection model_of(const Values& values, const Path& config_file) {
  ModelSection model;
  model.name = text_of(values, "model.name");
  model.version = text_of(values, "model.version");
  model.record_version = whole_number_of(values, "model.record_version");
  model.format = config::word_at<ModelFormat>(values, "model.format");
  model.source = config::source_of(values, config_file);
  model.written_source = config::written_source_of(values);
  model.author = text_of(values, "model.author");
  model.description = text_of(values, "model.description");
  model.dimensions = sizes_of(values, "model.dimensions");
  model.constants = constants_of(values);
  model.serving_key.clear();
  switch (model.format) {
    case ModelFormat::kSavedModel:
      model.serving_key = text_of(values, "model.serving_key");
      break;
    case ModelFormat::kFrozenGraph: {
      const auto batch = config::word_at<BatchMode>(values, "compilation.batch");
      model.inputs = mapped(values.at("model.inputs").node,
                            [&](const YAML::Node& item) { return frozen_input_of(item, batch); });
      model.outputs = texts_of(values, "model.outputs");
      break;
    }
    case ModelFormat::kOnnx:
      model.opset = config::word_at<OpsetMode>(values, "model.opset");
      break;
    case ModelFormat::kStableHlo:
      break;
  }
  return model;
}

// The values of `table` that are in `chosen`, in the table's order.
std::vector<std::string> in_order_of(std::vector<std::string> table,
                                     const std::vector<std::string>& chosen) {
  std::erase_if(table, [&](const std::string& name) { return !contains(chosen, name); });
  return table;
}

CompilationSection compilation_of(const Values& values) {
  CompilationSection section;
  section.namespace_name = text_of(values, "compilation.namespace");
  section.target_triple = text_of(values, "compilation.target_triple");
  section.weights = config::word_at<WeightsMode>(values, "compilation.weights");
  section.weights_type = config::word_at<WeightsType>(values, "compilation.weights_type");
  section.compute = config::word_at<ComputeType>(values, "compilation.compute");
  section.optimize = config::word_at<Optimization>(values, "compilation.optimize");
  section.headers = config::word_at<HeadersMode>(values, "compilation.headers");
  section.rows = config::word_at<RowsMode>(values, "compilation.rows");
  section.dimensions = ranges_of(values, "compilation.dimensions");
  section.tf_xla_flags = texts_of(values, "compilation.tf_xla_flags");
  section.xla_flags = texts_of(values, "compilation.xla_flags");
  section.batch = config::word_at<BatchMode>(values, "compilation.batch");
  if (section.batch == BatchMode::kNone) {
    section.batch_sizes = {1};
  } else {
    section.batch_sizes = mapped(values.at("compilation.batch_sizes").node,
                                 [](const YAML::Node& size) { return size.as<std::int64_t>(); });
  }
  std::sort(section.batch_sizes.begin(), section.batch_sizes.end());
  const std::string architecture = processor_of(section.target_triple);
  section.cpu_levels = values.count("compilation.cpu_levels")
                           ? in_order_of(allowed_cpu_levels(architecture),
                                         texts_of(values, "compilation.cpu_levels"))
                           : default_cpu_levels(architecture);
  return section;
}

Result<ModelSpec> load(const FileSystem& fs, const YAML::Node& root, const Path& file,
                       const ConfigOverrides& overrides) {
  Problems problems(file.string());
  const Values values = checked_values(root, config::values_of(overrides), problems);
  config::check_format(values, problems);
  config::check_cpu_levels(values, problems);
  config::check_object_count(values, problems);
  config::check_batch(values, problems);
  config::check_rows(values, problems);
  config::check_compute(values, problems);
  config::check_dimensions(values, problems);
  config::check_source(fs, file, values, problems);
  if (problems.count() > 0) return fail(problems.to_error());
  return ModelSpec{
      .config_file = file, .model = model_of(values, file), .compilation = compilation_of(values)};
}

Result<ModelSpec> load(const FileSystem& fs, const Path& file, const ConfigOverrides& overrides) {
  TFAOT_ASSIGN(const YAML::Node root, read_config(fs, file));
  return load(fs, root, file, overrides);
}

// The nodes have no place, so what is wrong is wrong with an option.
Result<ModelSpec> load_without_config(const FileSystem& fs, const Path& model, ModelFormat format,
                                      const ConfigOverrides& overrides) {
  YAML::Node root;
  root["model"]["name"] = overrides.name.empty() ? suggested_model_name(model) : overrides.name;
  root["model"]["version"] = overrides.version.empty() ? "1.0.0" : overrides.version;
  root["model"]["format"] = word_of(format);
  root["model"][word_of(format)] = model.string();
  root["compilation"] = YAML::Node(YAML::NodeType::Map);
  ConfigOverrides options = overrides;
  if (options.batch_sizes.empty() && options.batch != BatchMode::kNone) {
    options.batch_sizes = {"1"};
  }
  TFAOT_ASSIGN(ModelSpec spec, load(fs, root, model, options));
  spec.config_file.clear();
  return spec;
}

Result<ModelIdentity> identity(const FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const YAML::Node root, read_config(fs, file));
  Problems problems(file.string());
  const Values values = checked_values(root, {}, problems);
  for (const char* const path : {"model.name", "model.version", "compilation.namespace"}) {
    const bool is_missing = config_key(path).fallback.empty() && !values.contains(path);
    if (is_missing || !config::is_usable(values, path)) return fail(problems.to_error());
  }
  return ModelIdentity{text_of(values, "model.name"), text_of(values, "compilation.namespace"),
                       text_of(values, "model.version")};
}

// yaml-cpp throws for faults that the checks above should have found.
template <class Read>
auto without_exceptions(const Path& file, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const YAML::Exception& e) {
    return fail(
        Error::internal(fmt::format("{}: reading the config: {}", file.string(), e.what())));
  }
}

}  // namespace

Result<ModelSpec> load_model_spec(const FileSystem& fs, const Path& file,
                                  const ConfigOverrides& overrides) {
  return without_exceptions(file, [&] { return load(fs, file, overrides); });
}

Result<ModelSpec> spec_without_config(const FileSystem& fs, const Path& model, ModelFormat format,
                                      const ConfigOverrides& overrides) {
  return without_exceptions(model,
                            [&] { return load_without_config(fs, model, format, overrides); });
}

Result<ModelIdentity> load_model_identity(const FileSystem& fs, const Path& file) {
  return without_exceptions(file, [&] { return identity(fs, file); });
}

}  // namespace tfaot::toolkit
