// SPDX-License-Identifier: Apache-2.0
#include "check_source.h"

#include <fmt/format.h>

#include "check_model.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit::config {
namespace {

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

bool holds_saved_model(const FileSystem& fs, const Path& folder) {
  return is_file(fs, folder / "saved_model.pb") || is_file(fs, folder / "saved_model.pbtxt");
}

}  // namespace

Path written_source_of(const Values& values) {
  return node_or_default(values, source_key(values)).Scalar();
}

Path source_of(const Values& values, const Path& config_file) {
  const Path path = (config_file.parent_path() / written_source_of(values)).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void check_source(const FileSystem& fs, const Path& config_file, const Values& values,
                  Problems& problems) {
  const std::string key = source_key(values);
  const auto model = values.find("model");
  if (model == values.end() || !model->second.good || !is_usable(values, "model.format") ||
      !is_usable(values, key)) {
    return;
  }
  const auto given = values.find(key);
  const YAML::Mark mark = given == values.end() ? model->second.key : given->second.node.Mark();
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

}  // namespace tfaot::toolkit::config
