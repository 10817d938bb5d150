// SPDX-License-Identifier: Apache-2.0
// The way from a result to the user, and the pages, parts of pages and JSON that several verbs or
// their tests use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/cli/run_program.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/profile.h"
#include "tfaot/report/page.h"
#include "tfaot/tune/suggest.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/check_model.h"
#include "tfaot/workflow/install_archives.h"
#include "tfaot/workflow/validate_bits.h"
#include "tfaot/workflow/validate_package.h"

namespace CLI {
class App;
}

namespace tfaot::toolkit {

// "1 file", "2 files"
std::string counted(std::size_t count, const std::string& word);
// "5 functions of the runtime; memcpy; expf, floorf of libm" for the symbols that objects import.
std::string imports_text(const std::vector<std::string>& symbols);
// A whole number, its digits in groups, and sorted by its value.
report::Cell number_cell(std::int64_t number);
// "12.345"
std::string microseconds(double ns);
report::Cell microseconds_cell(double ns);
// Indented, with a newline; bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);
// The JSON of what a verb made: `path`, and which model it is.
nlohmann::ordered_json made_json(const std::string& kind, const Path& path,
                                 const Manifest& manifest);

// Prints what a verb did: the JSON with --json, else the report, unless --quiet is given.
void show_done(Program& program, const nlohmann::ordered_json& json, const std::string& report);

// What to do so that the scram of the area gets to know what was made current.
std::string scram_advice(const InstalledArchive& installed, const Path& area);

// --html, for every verb that makes a page of what it found:
//
//   options->html.add_to(app);                          // where the options are declared
//   TFAOT_TRY(options.html.check(program));             // before the work
//   return options.html.show(program, page_of(...), json);
class HtmlOption {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !file_.empty(); }
  // Usage error if a page cannot be put there, or if the file is something else than a page.
  Status check(const Program& program) const;
  // REQUIRES: given(). `json`: what readers of the page can save, unless page.data is set.
  Status write(Program& program, report::Page page, const nlohmann::ordered_json& json) const;
  // Writes the page if it is given. Prints JSON with --json, else the page's text.
  Status show(Program& program, report::Page page, const nlohmann::ordered_json& json) const;
  // The same of a page that only says how a comparison went: no text with --quiet.
  Status show_verdict(Program& program, report::Page page,
                      const nlohmann::ordered_json& json) const;

 private:
  std::string file_;
};

// Inputs by a word or a file, for `verb`'s --inputs.
Result<InputSource> named_inputs(const std::string& verb, const std::string& inputs,
                                 const Program& program);

// A value that differs; empty: there is none.
struct Difference {
  std::string what;  // "batch sizes", "input x", "lib/tagger_bs4.o"
  std::string first;
  std::string second;
};
using NamedValues = std::vector<std::pair<std::string, std::string>>;
// In the first one's order, then what only the second has.
std::vector<Difference> differences(const NamedValues& first, const NamedValues& second);

// info.cc: a package.

// Bytes of the package by use, from the manifest's file list.
struct PackageSizes {
  std::uint64_t code = 0;           // objects of the model, without weights
  std::uint64_t weights = 0;        // 0 if embedded in the code
  std::uint64_t model_weights = 0;  // in the model itself; 0: unknown
  std::uint64_t headers = 0;        // of the model, without the runtime's
  struct Object {
    std::int64_t batch_size = 0;
    std::string cpu_level;
    std::uint64_t bytes = 0;
  };
  std::vector<Object> objects;  // of the code, by batch size, then CPU level
};
PackageSizes package_sizes(const Manifest& manifest);
// "[batch, 28, 28]", or "[28, 28]" of a model without a batch; free dimensions by name.
std::string shape_text(const TensorSpec& tensor, const Manifest& manifest);
// All but the tensors and the files.
std::vector<report::Fact> facts_of(const Manifest& manifest);
// Measured calls. REQUIRES: manifest.tuning.
report::Section times_section(const Manifest& manifest);
// How some numbers of rows run at the highest measured level; no blocks if nothing was measured, or
// if nothing is composed because rows depend on each other.
report::Section plan_section(const Manifest& manifest);

// check.cc: does a model compile?

// `path`: as the user wrote it.
report::Page check_page(const ModelCheck& check, const std::string& path);
nlohmann::ordered_json check_to_json(const ModelCheck& check, const std::string& path);

// tune.cc: which batch sizes to compile.

std::vector<report::Section> suggestion_sections(const Suggestion& suggestion);
nlohmann::ordered_json suggestion_json(const Suggestion& suggestion);
// "1, 4, 16"
std::string sizes_text(const std::vector<SizeCost>& sizes);
// "1:256": all equally likely. Usage error of this verb's --range.
Result<std::map<std::size_t, double>> rows_of_range(const std::string& verb,
                                                    const std::string& range);

// profile.cc: times and memory.

// Of one machine, or of several that measured the same.
report::Page profile_page(const std::vector<Profile>& profiles);
// "ONNX Runtime"
std::string engine_title(ProfiledEngine engine);
// "1.86", with three digits that count.
std::string short_number(double value);
// "onnxruntime=FILE". Usage error of this verb's option.
using EngineAndFile = std::pair<ProfiledEngine, std::string>;
Result<EngineAndFile> engine_and_file(const std::string& verb, const std::string& option,
                                      const std::string& text);

// validate.cc: predictions compared.

// "37 %": the largest difference as a share of what is allowed.
std::string allowed_text(const ValidatedOutput& output);
// Of those that count the worst; null: there are none.
const ValidatedOutput* worst_output(const Validation& validation);

// A row for each: output, inputs, verdict, differences, place.
report::Table differences_table(const std::vector<ValidatedOutput>& outputs);
// In a few lines; empty without a validation.
std::string validation_summary(const Manifest& manifest);
// Paths as the user wrote them.
struct ValidatedPaths {
  std::string package;
  std::string model;
};
report::Page validation_page(const ValidationResult& result, const ValidatedPaths& paths);
nlohmann::ordered_json validation_result_to_json(const ValidationResult& result,
                                                 const ValidatedPaths& paths);

// bits_page.cc: the bits of a package in many ways.

// `package`: as the user wrote it.
report::Page bits_page(const BitsResult& result, const std::string& package);
nlohmann::ordered_json bits_result_to_json(const BitsResult& result, const std::string& package);
// In a few lines; empty if the manifest has none.
std::string bits_summary(const Manifest& manifest);

}  // namespace tfaot::toolkit
