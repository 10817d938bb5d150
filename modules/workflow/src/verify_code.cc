// SPDX-License-Identifier: Apache-2.0
#include "verify_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/elf/object_facts.h"
#include "tfaot/inspect/instruction_check.h"
#include "tfaot/records/allowed_calls.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

// More of one kind in an object say nothing new.
constexpr std::size_t kMostFaults = 5;

// The facts of objects together.
class Imports {
 public:
  void add(const ObjectFacts& facts) {
    undefined_.insert(facts.undefined.begin(), facts.undefined.end());
    defined_.insert(facts.defined.begin(), facts.defined.end());
  }
  // Without what another object of the package defines, such as weights.
  std::vector<std::string> outside() const {
    std::vector<std::string> symbols;
    std::ranges::set_difference(undefined_, defined_, std::back_inserter(symbols));
    return symbols;
  }

 private:
  std::set<std::string> undefined_;
  std::set<std::string> defined_;
};

// Binutils of another machine have its name in front.
std::string disassembler_for(const std::string& machine, const Context& context) {
  if (machine == context.environment.architecture) return "objdump";
  return machine + "-linux-gnu-objdump";
}

class CodeReader {
 public:
  CodeReader(Context& context, const Path& package, std::vector<Error>& faults)
      : context_(context), package_(package), faults_(faults) {}

  Status read(const Path& tree, const Manifest& manifest) {
    const std::string machine = processor_of(manifest.target_triple);
    for (const ManifestFile& file : manifest.files) {
      if (!is_object_file(file.path)) continue;
      TFAOT_TRY(check_interrupts());
      ++check_.objects;
      const auto facts = object_facts(context_.files, tree / file.path);
      if (!facts) {
        fault(file.path, facts.error().message())
            .note("compile the model again: 'tfaot compile' makes the objects of a package");
        continue;
      }
      if (facts->machine != machine) fault(file.path, "is code for " + facts->machine);
      objects_.emplace_back(file.path, *facts);
      imports_.add(*facts);
      for (const std::string& finding : facts->findings) fault(file.path, finding);
      if (facts->has_code) TFAOT_TRY(read_instructions(tree, file.path, facts->machine));
    }
    check_imports(manifest);
    return {};
  }

  CodeCheck result() { return std::move(check_); }

 private:
  Error& fault(const std::string& object, const std::string& text) {
    return faults_.emplace_back(Error::at({package_.string()}, object + ": " + text));
  }

  Status read_instructions(const Path& tree, const std::string& object,
                           const std::string& machine) {
    if (!check_.why_no_instructions.empty()) return {};
    const auto read =
        check_instructions(tree / object, machine, disassembler_for(machine, context_));
    TFAOT_TRY(check_interrupts());
    if (!read) {
      check_.why_no_instructions = read.error().message();
      return {};
    }
    check_.instructions += read->instructions;
    const std::size_t shown = std::min(read->found.size(), kMostFaults);
    for (std::size_t i = 0; i < shown; ++i) {
      const FoundInstruction& found = read->found[i];
      fault(object,
            fmt::format("the function '{}' has {}: {}", found.function, found.what, found.text));
    }
    if (shown < read->found.size()) {
      fault(object, fmt::format("and {} more instructions", read->found.size() - shown));
    }
    return {};
  }

  void check_imports(const Manifest& manifest) {
    check_.imports = imports_.outside();
    for (const std::string& symbol : check_.imports) {
      if (kind_of_call(symbol) != CallKind::kForbidden) continue;
      for (const auto& [path, facts] : objects_) {
        if (!contains(facts.undefined, symbol)) continue;
        fault(path, fmt::format("calls '{}', which the code of a model may not", symbol));
        break;
      }
    }
    // Packages of older versions have no list.
    if (!manifest.imports.empty() && manifest.imports != check_.imports) {
      faults_.push_back(
          Error::at({package_.string()}, "its objects do not import what its manifest lists"));
    }
  }

  Context& context_;
  const Path& package_;
  std::vector<Error>& faults_;
  std::vector<std::pair<std::string, ObjectFacts>> objects_;
  Imports imports_;
  CodeCheck check_;
};

}  // namespace

Result<std::vector<std::string>> imports_of(const FileSystem& fs,
                                            const std::vector<StagedFile>& files) {
  Imports imports;
  for (const StagedFile& file : files) {
    if (!is_object_file(file.path)) continue;
    TFAOT_ASSIGN(const ObjectFacts facts, object_facts(fs, file.source));
    imports.add(facts);
  }
  return imports.outside();
}

Result<CodeCheck> check_code(Context& context, const Path& tree, const Manifest& manifest,
                             const Path& package, std::vector<Error>& faults) {
  CodeReader reader(context, package, faults);
  TFAOT_TRY(reader.read(tree, manifest));
  return reader.result();
}

}  // namespace tfaot::toolkit
