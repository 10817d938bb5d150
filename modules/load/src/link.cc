// SPDX-License-Identifier: Apache-2.0
#include "tfaot/load/link.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "model_tables.h"
#include "templates.h"
#include "tfaot/base/process.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

int add_if_standard(dl_phdr_info* info, std::size_t, void* found) {
  constexpr std::array<std::string_view, 4> kStandard = {"libm.so.", "libstdc++.so.",
                                                         "libgcc_s.so.", "libc.so."};
  const Path file = info->dlpi_name;
  const std::string name = file.filename().string();
  if (std::ranges::any_of(kStandard, [&](auto start) { return name.starts_with(start); })) {
    static_cast<std::vector<Path>*>(found)->push_back(file);
  }
  return 0;
}

// The files of the C and C++ standard libraries in this process. A library that needs them finds
// them by their names, because they are loaded.
std::vector<Path> loaded_standard_libraries() {
  std::vector<Path> found;
  ::dl_iterate_phdr(add_if_standard, &found);
  return found;
}

constexpr std::chrono::minutes kLinkerTimeout{10};
constexpr const char* kBinutils = "binutils";

Status check_machine(const Path& tree, const Manifest& manifest, const std::string& machine) {
  const std::string processor = processor_of(manifest.architecture);
  if (processor == machine) return {};
  return fail(Error::at({tree.string()}, fmt::format("the package is for '{}', this machine is "
                                                     "'{}'",
                                                     processor, machine))
                  .note("run it on a machine that can run it"));
}

Path runtime_of(const LinkRequest& request) {
  return request.runtime.empty() ? request.tree / kRuntimeLibrary : request.runtime;
}

Status check_package(const FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  TFAOT_TRY(check_machine(request.tree, manifest, request.machine));
  if (is_file(fs, runtime_of(request))) return {};
  return fail(
      Error::at({request.tree.string()}, fmt::format("the package has no {}", kRuntimeLibrary))
          .note("it was made by an older tfaot; compile the model again"));
}

std::vector<std::string> linker_arguments(const Path& output, std::vector<std::string> more,
                                          const std::vector<Path>& objects, bool foreign = false) {
  // No symbol may stay open.
  std::vector<std::string> arguments =
      split_words("-shared -Bsymbolic --gc-sections --build-id=none -z defs -z now -z noexecstack");
  std::ranges::move(more, std::back_inserter(arguments));
  arguments.emplace_back("-o");
  arguments.push_back(output.string());
  for (const Path& object : objects) arguments.push_back(object.string());
  // The very files that this process has loaded: no search path, and no development package. On
  // another machine they have the same names.
  arguments.emplace_back("--as-needed");
  for (const Path& library : loaded_standard_libraries()) {
    arguments.push_back(foreign ? "-l:" + library.filename().string() : library.string());
  }
  return arguments;
}

// The objects of a package, without those that `known` has. Equal ones are linked once.
void add_objects(const Path& tree, const Manifest& manifest, std::set<std::string>& known,
                 std::vector<Path>& objects) {
  for (const ManifestFile& file : manifest.files) {
    if (!is_object_file(file.path)) continue;
    if (!file.sha256.empty() && !known.insert(file.sha256).second) continue;
    objects.push_back(tree / file.path);
  }
}

// `package` of Debian holds the program.
Status run_binutils(const Path& program, std::vector<std::string> arguments, const char* what,
                    const std::string& package, Error failure) {
  ProcessSpec spec;
  spec.program = program;
  spec.timeout = kLinkerTimeout;
  spec.arguments = std::move(arguments);
  TFAOT_ASSIGN(const ProcessResult result,
               run_tool(spec, {fmt::format("the {} '{}', which makes a package's code loadable, "
                                           "cannot be started",
                                           what, program.string()),
                               fmt::format("install it (Debian: {})", package)}));
  if (result.ok()) return {};
  return fail(with_last_words(std::move(failure), result));
}

// The text between the quotes of .asciz.
std::string asciz_text(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-+.,:/";
  std::string plain;
  for (const char c : text) {
    plain += kPlain.find(c) != std::string_view::npos
                 ? std::string(1, c)
                 : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return plain;
}

template <class Number>
std::string text_of(Number number) {
  return fmt::format("{}", number);
}

// Null: no steps.
TemplateData steps_data(const ::tfaot::SizeSteps* steps, std::size_t dimensions) {
  TemplateData data{TemplateData::type::list};
  for (std::size_t d = 0; steps != nullptr && d < dimensions; ++d) {
    data << TemplateObject{{"smallest", text_of(steps[d].smallest)},
                           {"largest", text_of(steps[d].largest)},
                           {"step", text_of(steps[d].step)}};
  }
  return data;
}

// `dimensions`: how many are free.
TemplateObject tensor_data(const std::string& id, const ::tfaot::TensorInfo& tensor,
                           std::size_t dimensions) {
  TemplateData terms{TemplateData::type::list};
  TemplateData formulas{TemplateData::type::list};
  for (std::size_t d = 0; tensor.free_shape != nullptr && d < tensor.rank; ++d) {
    const ::tfaot::SizeFormula& formula = tensor.free_shape[d];
    for (std::size_t t = 0; t < formula.term_count; ++t) {
      const ::tfaot::SizeTerm& term = formula.terms[t];
      const std::vector<int> powers(term.powers, term.powers + dimensions);
      terms << TemplateObject{
          {"id", fmt::format("{}_term{}_{}", id, d, t)},
          {"factor", text_of(term.factor)},
          {"powers", objects_data("power", mapped(powers, text_of<int>))},
          {"steps", steps_data(term.within, dimensions)},
          {"within",
           term.within == nullptr ? "0" : fmt::format(".L{}_term{}_{}_within", id, d, t)}};
    }
    formulas << TemplateObject{
        {"is_first", d == 0},
        {"tensor", id},
        {"terms", formula.term_count == 0 ? "0" : fmt::format(".L{}_term{}_0", id, d)},
        {"term_count", text_of(formula.term_count)},
        {"divisor", text_of(formula.divisor)}};
  }
  return {{"id", id},
          {"terms", terms},
          {"formulas", formulas},
          {"free", tensor.free_shape == nullptr ? "0" : fmt::format(".L{}_free", id)},
          {"name", asciz_text(tensor.name)},
          {"shape", objects_data("size", mapped(std::vector<std::int64_t>(tensor.shape().begin(),
                                                                          tensor.shape().end()),
                                                text_of<std::int64_t>))},
          {"dtype", text_of(static_cast<int>(tensor.dtype))},
          {"rank", text_of(tensor.rank)},
          {"elements", text_of(tensor.row_elements)}};
}

TemplateObject code_data(const std::string& id, const ModelTables::Entry& entry) {
  const ::tfaot::Code& code = *entry.code;
  TemplateData slots{TemplateData::type::list};
  for (std::size_t i = 0; i < code.slot_count; ++i) {
    const ::tfaot::BufferSlot& slot = code.slots[i];
    slots << TemplateObject{{"kind", text_of(static_cast<int>(slot.kind))},
                            {"index", text_of(slot.index)},
                            {"offset", text_of(slot.offset)},
                            {"size", text_of(slot.size)}};
  }
  return {{"id", id},
          {"level", asciz_text(code.cpu_level)},
          {"features", asciz_text(code.cpu_features)},
          {"slots", slots},
          {"entry", entry.compiled->entry_symbol},
          {"slot_count", text_of(code.slot_count)},
          {"result_slot", text_of(code.result_slot)},
          {"scratch", text_of(code.scratch_bytes)},
          {"cost", text_of(code.cost)},
          {"estimate", text_of(code.estimated_cost)},
          {"live", text_of(code.live_permille)},
          {"shared", text_of(code.shared_permille)},
          {"lane_bytes", text_of(code.lane_bytes)}};
}

TemplateObject model_data(const std::string& id, const ModelTables& tables) {
  const ::tfaot::Description& model = tables.description();
  TemplateData tensors{TemplateData::type::list};
  for (std::size_t i = 0; i < model.input_count; ++i) {
    tensors << tensor_data(fmt::format("{}_in{}", id, i), model.inputs[i], model.dimension_count);
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    tensors << tensor_data(fmt::format("{}_out{}", id, i), model.outputs[i], model.dimension_count);
  }
  TemplateData dimensions{TemplateData::type::list};
  for (std::size_t i = 0; i < model.dimension_count; ++i) {
    const ::tfaot::FreeDimension& dimension = model.dimensions[i];
    dimensions << TemplateObject{{"id", fmt::format("{}_dimension{}", id, i)},
                                 {"name", asciz_text(dimension.name)},
                                 {"smallest", text_of(dimension.smallest)},
                                 {"largest", text_of(dimension.largest)}};
  }
  TemplateData codes{TemplateData::type::list};
  for (std::size_t i = 0; i < tables.entries().size(); ++i) {
    codes << code_data(fmt::format("{}_code{}", id, i), tables.entries()[i]);
  }
  TemplateData programs{TemplateData::type::list};
  std::size_t first = 0;
  for (std::size_t i = 0; i < model.program_count; ++i) {
    const ::tfaot::Program& program = model.programs[i];
    programs << TemplateObject{{"batch_size", text_of(program.batch_size)},
                               {"codes_offset", text_of(first * sizeof(::tfaot::Code))},
                               {"code_count", text_of(program.code_count)}};
    first += program.code_count;
  }
  const bool has_weights = !tables.compiled().weights_object.empty();
  return {{"id", id},
          {"name", asciz_text(model.name)},
          {"version", asciz_text(model.version)},
          {"record_version", text_of(model.record_version)},
          {"record_hash", asciz_text(model.record_hash == nullptr ? "" : model.record_hash)},
          {"tensors", tensors},
          {"dimensions", dimensions},
          {"dimension_count", text_of(model.dimension_count)},
          {"codes", codes},
          {"programs", programs},
          {"input_count", text_of(model.input_count)},
          {"outputs_offset", text_of(model.input_count * sizeof(::tfaot::TensorInfo))},
          {"output_count", text_of(model.output_count)},
          {"program_count", text_of(model.program_count)},
          {"weights", has_weights ? tables.compiled().weights_symbol : "0"},
          {"weights_bytes", text_of(model.weights_bytes)},
          {"coupled", text_of(static_cast<int>(model.coupled_rows))}};
}

// Two packages in which a symbol means different code: only those of `tfaot convert-area`, whose
// symbols have no hash. The linker would silently take one of both.
class SymbolCheck {
 public:
  Status add(const PackageToLink& package) {
    const CompiledModel& compiled = package.compiled;
    for (const CompiledCode& code : compiled.codes) {
      const auto file = std::ranges::find_if(
          package.manifest.files,
          [&](const ManifestFile& listed) { return Path(listed.path).filename() == code.object; });
      if (file == package.manifest.files.end()) continue;
      TFAOT_TRY(add(code.entry_symbol, file->sha256, package));
    }
    if (compiled.weights_object.empty()) return {};
    return add(compiled.weights_symbol, package.manifest.weights.sha256, package);
  }

 private:
  Status add(const std::string& symbol, const std::string& sha256, const PackageToLink& package) {
    const auto [known, is_new] = symbols_.try_emplace(symbol, sha256);
    if (is_new || known->second == sha256) return {};
    return fail(
        Error::at({package.tree.string()},
                  fmt::format("the symbol '{}' is of other code in another package", symbol))
            .note("link each of them into a library of its own"));
  }

  std::map<std::string, std::string> symbols_;
};

Status check_packages(const LinkModelsRequest& request) {
  std::set<std::pair<std::string, std::string>> names;
  SymbolCheck symbols;
  for (const PackageToLink& package : request.packages) {
    const Manifest& manifest = package.manifest;
    if (const std::string machine = processor_of(manifest.architecture);
        machine != request.machine) {
      return fail(Error::at({package.tree.string()},
                            fmt::format("the package is for '{}', the library for '{}'", machine,
                                        request.machine))
                      .note("link the packages of each machine into a library of their own"));
    }
    if (!names.emplace(manifest.name, manifest.version).second) {
      return fail(Error::at({package.tree.string()},
                            fmt::format("{} {} is given twice", manifest.name, manifest.version))
                      .note("a library has one model of each name and version"));
    }
    TFAOT_TRY(symbols.add(package));
  }
  return {};
}

constexpr std::string_view kExports = "TFAOT_1 { global: tfaot_models_*; local: *; };\n";

}  // namespace

Status link_model(FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  TFAOT_TRY(check_package(fs, manifest, request));
  std::vector<Path> objects = request.objects;
  std::set<std::string> known;
  if (objects.empty()) add_objects(request.tree, manifest, known, objects);
  objects.push_back(runtime_of(request));
  // The symbols of the runtime are not seen by other libraries.
  Status linked = run_binutils(
      request.linker, linker_arguments(request.output, {"--exclude-libs", "ALL"}, objects),
      "linker", kBinutils,
      Error::at({request.tree.string()}, "the package's objects cannot be linked"));
  if (!linked) static_cast<void>(fs.remove_all(request.output));
  return linked;
}

Result<Path> link_models(FileSystem& fs, LinkModelsRequest request) {
  TFAOT_TRY(check_packages(request));
  const Path tables = request.scratch / "tables.s";
  const Path tables_object = request.scratch / "tables.o";
  const Path exports = request.scratch / "exports.map";
  const Path library = request.scratch / "library.so";
  const std::string binutils =
      request.is_foreign ? fmt::format("g++-{}-linux-gnu", request.machine) : kBinutils;
  std::vector<Path> objects = {tables_object};
  std::set<std::string> known;
  TemplateData models{TemplateData::type::list};
  const std::size_t count = request.packages.size();
  for (std::size_t i = 0; i < count; ++i) {
    PackageToLink& package = request.packages[i];
    add_objects(package.tree, package.manifest, known, objects);
    models << model_data(fmt::format("m{}", i),
                         ModelTables(std::move(package.manifest), std::move(package.compiled)));
  }
  objects.push_back(request.runtime);
  TFAOT_TRY(fs.replace_atomically(
      tables,
      render(templates::kLinkedModels,
             TemplateObject{{"models", models}, {"count", text_of(count)}}, Escaping::kNone)));
  TFAOT_TRY(fs.replace_atomically(exports, kExports));
  TFAOT_TRY(run_binutils(request.assembler, {"-o", tables_object.string(), tables.string()},
                         "assembler", binutils, Error::internal("the tables cannot be assembled")));
  // Exceptions need the header of .eh_frame, which a compiler's driver asks for.
  const std::vector<std::string> more = {
      "--eh-frame-hdr",   "--hash-style=gnu", "-z", "relro",
      "-soname",          request.name,       "-u", "tfaot_models_interface",
      "--version-script", exports.string()};
  TFAOT_TRY(run_binutils(request.linker,
                         linker_arguments(library, more, objects, request.is_foreign), "linker",
                         binutils, Error("the packages' objects cannot be linked")));
  return library;
}

}  // namespace tfaot::toolkit
