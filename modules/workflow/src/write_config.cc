// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/write_config.h"

#include "output_checks.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/compile/engine_questions.h"
#include "tfaot/config/config.h"
#include "tfaot/config/initial_config.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

Status check_paths(const Context& context, const ConfigRequest& request) {
  const FileSystem& files = context.files;
  if (named_path(files, request.model).kind != PathKind::kModel) {
    return fail(wrong_input(files, request.model, {"'tfaot init' takes " + model_kinds(), ""}));
  }
  TFAOT_ASSIGN(const FileKind kind, files.look(request.config));
  if (kind == FileKind::kMissing) return {};
  return fail(Error::at({request.config.string()}, "the file exists already")
                  .note("name another one with -o, or remove it"));
}

// Not the model's own folder, and no file.
std::string suggested_output(const Context& context, const Path& model, const std::string& name) {
  for (const std::string& output : {name, name + "_package"}) {
    const Path folder = context.absolute(output);
    if (!is_file(context.files, folder) && check_outside_model(folder, model)) return output;
  }
  return "../" + name + "_package";
}

}  // namespace

Result<WrittenConfig> write_config(Context& context, const ConfigRequest& request) {
  TFAOT_TRY(check_paths(context, request));
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, ""));
  TFAOT_ASSIGN(const ModelDescription model, describe_model(context.files, request.model, engine));
  InitialConfig values;
  values.name = request.name.empty() ? suggested_model_name(request.model) : request.name;
  values.version = request.version;
  values.source = request.model.lexically_relative(request.config.parent_path()).string();
  values.batch_sizes = request.batch_sizes;
  const auto signature = initial_signature(model, request.serving_key);
  if (!signature) return fail(Error(signature.error()).moved_to({request.model.string()}));
  values.any_opset = !(*signature)->newer_opset.empty();
  const std::string text = initial_config(model, **signature, values);
  const InterruptWatch watch;
  TFAOT_TRY(check_interrupts());
  const DespiteInterrupts commit;  // it is read again
  TFAOT_TRY(write_named_file(context.files, request.config, text));
  if (const auto read = load_model_spec(context.files, request.config); !read) {
    static_cast<void>(context.files.remove_all(request.config));
    return fail(Error(read.error()).moved_to({}));  // the file is gone
  }
  return WrittenConfig{values.name,
                       (*signature)->key,
                       open_dimensions(**signature),
                       suggested_output(context, request.model, values.name),
                       (*signature)->newer_opset,
                       (*signature)->problem};
}

}  // namespace tfaot::toolkit
