// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/inspection_page.h"
#include "text/describe.h"
#include "text/inspection_difference.h"
#include "text/inspection_report.h"
#include "tfaot/base/limits.h"
#include "tfaot/inspect/graph_drawing.h"
#include "tfaot/workflow/inspect_code.h"

namespace tfaot::toolkit {
namespace {

enum class StageFormat { kText, kDot, kSvg };
constexpr const char* kAssembly = "assembly";
constexpr const char* kLlvm = "llvm";
constexpr const char* kFirstLlvm = "llvm_unoptimized";

}  // namespace

template <>
inline constexpr auto kWords<StageFormat> = std::to_array<Word<StageFormat>>({
    {StageFormat::kText, "text"},
    {StageFormat::kDot, "dot"},
    {StageFormat::kSvg, "svg"},
});

namespace {

struct InspectArguments {
  VerbosityOption verbosity;
  std::string path;
  std::string other;  // empty: none
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::string> cpu_levels;
  bool against_no_flags = false;
  std::string stage;
  std::optional<StageFormat> format;
  std::optional<DrawnDetail> detail;
  std::string output;
  std::string dump;
  bool json = false;
  HtmlOption html;
  InspectRequest request;

  bool compares() const {
    return !other.empty() || batch_sizes.size() > 1 || cpu_levels.size() > 1 || against_no_flags;
  }
  bool prints_stage() const { return !stage.empty() || format || detail || !output.empty(); }
};

Status check_inspect_options(const InspectArguments& options) {
  const auto is_wrong = [](std::int64_t size) { return size < 1 || size > kLargestBatchSize; };
  if (const auto wrong = std::ranges::find_if(options.batch_sizes, is_wrong);
      wrong != options.batch_sizes.end()) {
    return fail(Error::usage(fmt::format("inspect: --batch-sizes: {} is not a number from 1 to {}",
                                         *wrong, kLargestBatchSize)));
  }
  if (options.batch_sizes.size() > 2 || options.cpu_levels.size() > 2) {
    return fail(Error::usage("inspect: two programs are compared, not more"));
  }
  if (options.compares() && options.prints_stage()) {
    return fail(Error::usage("inspect: --stage, --format, --detail and -o are for one program")
                    .note("give one path, one batch size and one CPU level"));
  }
  if (options.compares() && !options.dump.empty()) {
    return fail(Error::usage("inspect: --dump is for one program"));
  }
  if (options.prints_stage() && (options.json || options.html.given())) {
    return fail(Error::usage("inspect: --stage prints one stage, and no --json or --html"));
  }
  return {};
}

// Its first or second program.
InspectRequest side_of(const InspectArguments& options, const Program& program, std::size_t side) {
  const auto pick = [side](const auto& list) { return list[std::min(side, list.size() - 1)]; };
  InspectRequest request = options.request;
  const bool is_other = side == 1 && !options.other.empty();
  request.path = program.absolute(is_other ? options.other : options.path);
  if (!options.batch_sizes.empty()) request.batch_size = pick(options.batch_sizes);
  if (!options.cpu_levels.empty()) request.cpu_level = pick(options.cpu_levels);
  request.without_flags = side == 1 && options.against_no_flags;
  request.flag_effects = !options.compares() && !options.prints_stage();
  if (!options.dump.empty()) request.dump_directory = program.absolute(options.dump);
  return request;
}

// A stage of the code that is not HLO; null if the name is another.
const CodeListing* listing_named(const InspectedCode& code, const std::string& name) {
  if (name == kAssembly) return &code.assembly;
  if (name == kLlvm) return &code.llvm;
  return name == kFirstLlvm ? &code.first_llvm : nullptr;
}

Result<const HloGraph*> graph_named(const InspectedCode& code, const std::string& name) {
  std::vector<std::string> names;
  for (const HloGraph& stage : code.stages) {
    if (stage.stage == name) return &stage;
    names.push_back(stage.stage);
  }
  if (name.empty() && !code.stages.empty()) return &code.stages.back();
  names.insert(names.end(), {kFirstLlvm, kLlvm, kAssembly});
  Error error = name.empty() ? Error("no stage of HLO is known")
                             : Error::usage(fmt::format("--stage: there is no '{}'", name));
  if (const auto guess = closest_match(name, names)) error.note("did you mean '" + *guess + "'?");
  return fail(error.note("stages: " + join(names, ", ")));
}

Result<std::string> stage_text(const InspectArguments& options, const InspectedCode& code) {
  const StageFormat format = options.format.value_or(StageFormat::kText);
  if (const CodeListing* const listing = listing_named(code, options.stage)) {
    if (format != StageFormat::kText) {
      return fail(Error::usage(fmt::format("--stage {} is text only", options.stage)));
    }
    if (!listing->text.empty()) return listing->text;
    return fail(
        Error(fmt::format("no {} of this program is known", options.stage))
            .note(code.remarks.empty() ? "the dump does not hold it" : code.remarks.front()));
  }
  TFAOT_ASSIGN(const HloGraph* const graph, graph_named(code, options.stage));
  if (format == StageFormat::kText) return graph->text;
  const std::string dot = dot_of(*graph, options.detail.value_or(DrawnDetail::kInstructions));
  if (format == StageFormat::kDot) return dot;
  return svg_of(dot);
}

Status print_stage(const InspectArguments& options, Program& program, const InspectedCode& code) {
  TFAOT_ASSIGN(const std::string text, stage_text(options, code));
  if (options.output.empty()) {
    program.console.print(text);
    return {};
  }
  TFAOT_ASSIGN(const Path place,
               place_for_named_file(program.files, program.absolute(options.output)));
  return program.files.replace_atomically(place, text);
}

Status inspect_two(const InspectArguments& options, Program& program) {
  TFAOT_ASSIGN(const InspectedCode first, inspect_code(program, side_of(options, program, 0)));
  TFAOT_ASSIGN(const InspectedCode second, inspect_code(program, side_of(options, program, 1)));
  const std::string& other = options.other.empty() ? options.path : options.other;
  const nlohmann::ordered_json json = comparison_to_json({first, options.path}, {second, other});
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, comparison_page(first, second), json));
  }
  program.console.print(options.json ? json_text(json) : comparison_text(first, second));
  return {};
}

Status inspect_one(const InspectArguments& options, Program& program) {
  TFAOT_ASSIGN(const InspectedCode code, inspect_code(program, side_of(options, program, 0)));
  if (options.prints_stage()) return print_stage(options, program, code);
  const nlohmann::ordered_json json = inspection_to_json(code, options.path);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, inspection_page(code, draw_stages(code)), json));
  }
  program.console.print(options.json ? json_text(json) : inspection_text(code, options.path));
  return {};
}

Status run_inspect(const InspectArguments& options, Program& program) {
  TFAOT_TRY(check_inspect_options(options));
  TFAOT_TRY(options.html.check(program));
  if (!options.output.empty()) {
    TFAOT_TRY(check_output_file(program.files, "--output", program.absolute(options.output)));
  }
  return options.compares() ? inspect_two(options, program) : inspect_one(options, program);
}

void add_program_choice(CLI::App& app, InspectArguments& options) {
  app.add_option(
         "PATH", options.path,
         "a config, a model, a package (also AREA/NAME[/VERSION]), or a\nfolder that XLA dumped")
      ->required()
      ->option_text(" ");
  app.add_option("OTHER", options.other, "compare with this one")->option_text(" ");
  app.add_option("--batch-sizes", options.batch_sizes,
                 "two are compared [a config's largest; a package's\nsmallest]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("N[,M]");
  app.add_option("--cpu-levels", options.cpu_levels, "two are compared [the highest]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("L[,K]");
  add_dimensions(app, options.request.dimensions);
  app.add_flag("--against-no-flags", options.against_no_flags,
               "compare a config with itself without its compiler flags");
  app.add_option("--module", options.request.module, "of a dump [the largest]")
      ->option_text("NAME");
  app.add_flag("--passes", options.request.passes, "show what each pass made, too");
}

}  // namespace

Action add_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectArguments>();
  add_program_choice(app, *options);
  app.add_option(
         "--stage", options->stage,
         "print only this stage; also 'assembly', 'llvm' and\n'llvm_unoptimized' [the last]")
      ->option_text("NAME");
  add_word_option<StageFormat>(app, "--format", options->format, "of the stage [text]");
  add_word_option<DrawnDetail>(app, "--detail", options->detail,
                               "what is drawn of it [instructions]");
  app.add_option("-o,--output", options->output, "write the stage to a file")->option_text("FILE");
  app.add_option("--dump", options->dump,
                 "of a config: keep the files of all steps here,\nwhich 'tfaot inspect DIR' opens")
      ->option_text("DIR");
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  add_allow_large(app, options->request.allow_large);
  options->verbosity.add_to(app);
  add_engine_program(app, options->request.engine, "");
  app.footer(
      "Compiles one batch size and CPU level of a config and keeps nothing. A package keeps only "
      "the\n"
      "HLO of its smallest batch size; its objects hold the assembly. Times are estimates.\n"
      "Examples:\n"
      "  tfaot inspect aot_config.yaml --batch-sizes 16 --html tagger.html\n"
      "  tfaot inspect aot_config.yaml --stage simplified --format svg -o tagger.svg\n"
      "  tfaot inspect aot_config.yaml --batch-sizes 1,64\n"
      "  tfaot inspect old/tagger new/tagger\n"
      "  tfaot inspect /tmp/xla_dump --module module_0004.cluster_0");
  return [options](Program& program) {
    options->verbosity.apply(program.console);
    return run_inspect(*options, program);
  };
}

}  // namespace tfaot::toolkit
