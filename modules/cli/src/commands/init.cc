// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/write_config.h"

namespace tfaot::toolkit {
namespace {

struct InitArguments {
  std::string model;
  std::string output = "aot_config.yaml";
  ConfigRequest request;
};

Status init(const InitArguments& options, Program& program) {
  ConfigRequest request = options.request;
  request.model = program.absolute(options.model);
  request.config = program.absolute(options.output);
  TFAOT_TRY(check_output_file(program.files, "--output", request.config));
  TFAOT_ASSIGN(const WrittenConfig written, write_config(program, request));
  const std::string config = shell_quoted(options.output);
  const std::string sizes = written.open_dimensions.empty()
                                ? ""
                                : fmt::format(
                                      ", and for {} sizes in model.dimensions or ranges "
                                      "in compilation.dimensions",
                                      join(written.open_dimensions, ", "));
  show_done(program,
            {{"kind", "config"},
             {"path", request.config.string()},
             {"name", written.name},
             {"signature", written.signature},
             {"open_dimensions", written.open_dimensions},
             {"problem", written.problem}},
            fmt::format("config     {}\nmodel      {}{}\n  next: choose its batch sizes{}, then\n"
                        "        tfaot compile -c {} -o {}\n",
                        options.output, written.name,
                        written.signature.empty() ? "" : ", signature " + written.signature, sizes,
                        config, shell_quoted(written.output)));
  if (!written.newer_opset.empty()) {
    program.diagnostics.warning(
        written.newer_opset +
        ": the config says 'opset: any'; compare the package by 'tfaot validate'");
  }
  if (!written.problem.empty()) {
    program.diagnostics.warning("the model cannot be compiled as it is: " + written.problem);
  }
  return {};
}

}  // namespace

Action add_init(CLI::App& app) {
  auto options = std::make_shared<InitArguments>();
  ConfigRequest& request = options->request;
  add_value(app, "MODEL", options->model,
            "a SavedModel's folder, an ONNX file, a frozen graph or a file\nwith StableHLO")
      ->required();
  add_value(app, "-o,--output FILE", options->output, "the config to write [aot_config.yaml]");
  add_value(app, "--name NAME", request.name, "the model's name [that of its folder]");
  add_version(app, request.version, "version of the package [1.0.0]");
  add_value(app, "--signature KEY", request.serving_key,
            "the signature to compile [serving_default, or else the first one]");
  app.add_option("--batch-sizes", request.batch_sizes,
                 "batch sizes to compile [1,2,4,8,16,32, or the one that the model fixes]")
      ->delimiter(',')
      ->option_text("N,...");
  add_engine_limits(app);
  app.footer(
      R"(The config holds every key: those that have a default are comments. 'tfaot info MODEL' shows
what the model contains.
Example:
  tfaot init exports/tagger --batch-sizes 1,4,16)");
  return [options](Program& program) { return init(*options, program); };
}

}  // namespace tfaot::toolkit
