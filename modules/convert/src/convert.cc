// SPDX-License-Identifier: Apache-2.0
#include "tfaot/convert/convert.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/elf/constants.h"
#include "tfaot/elf/data_object.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/records/allowed_calls.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/symbols.h"
#include "upstream_header.h"

namespace tfaot::toolkit {
namespace {

// What a program has without linking any library: the C library, its mathematics, and what
// compilers call for themselves. Looked up in this machine's libraries; other machines have the
// same names.

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

bool offers(const char* name, const std::string& symbol) {
  const std::unique_ptr<void, CloseLibrary> library(::dlopen(name, RTLD_LAZY | RTLD_LOCAL));
  return library != nullptr && ::dlsym(library.get(), symbol.c_str()) != nullptr;
}

bool system_offers(const std::string& symbol) {
  return offers("libc.so.6", symbol) || offers("libm.so.6", symbol) ||
         offers("libgcc_s.so.1", symbol);
}

// Upstream lists a model's inputs and outputs in the order of a protobuf map. Some protobufs change
// that order from run to run, and so from one batch size to the next. A package has one order.

// The header of one batch size.
struct SizedHeader {
  std::int64_t batch_size = 0;
  UpstreamHeader* header = nullptr;
};

using Names = std::vector<std::string>;

// Inputs or outputs.
struct Side {
  const char* word;
  const char* prefix;  // of upstream's names
  std::vector<UpstreamTensor> UpstreamHeader::*tensors;
};

constexpr Side kInputs = {"inputs", kInputPrefix, &UpstreamHeader::arguments};
constexpr Side kOutputs = {"outputs", kOutputPrefix, &UpstreamHeader::results};

Names names_of(const SizedHeader& one, const Side& side) {
  return mapped(one.header->*side.tensors, [&](const UpstreamTensor& tensor) {
    return plain_name(tensor.name, side.prefix, one.batch_size);
  });
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

bool can_be_sorted(const Names& sorted_names) {
  return !sorted_names.front().empty() &&
         std::adjacent_find(sorted_names.begin(), sorted_names.end()) == sorted_names.end();
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> moved;
  for (const std::size_t index : order) moved.push_back(std::move(values[index]));
  values = std::move(moved);
}

void sort_by_name(const SizedHeader& one, const Side& side, const Names& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return names[i]; });
  UpstreamHeader& header = *one.header;
  reorder(header.*side.tensors, order);
  if (side.tensors == kInputs.tensors) {
    reorder(header.argument_buffers, order);
  } else if (header.result_buffers) {
    reorder(*header.result_buffers, order);
  }
}

// The remark, if there is anything to report.
std::optional<std::string> unify(const std::string& model, const std::vector<SizedHeader>& headers,
                                 const Side& side) {
  const Names first = names_of(headers.front(), side);
  const Names by_name = sorted(first);
  if (!can_be_sorted(by_name)) return std::nullopt;
  std::optional<std::string> other;
  for (const SizedHeader& one : headers) {
    const Names names = names_of(one, side);
    if (sorted(names) != by_name) return std::nullopt;
    if (names != first && !other) {
      other = fmt::format("({}) in {}.h", join(names, ", "), program_name(model, one.batch_size));
    }
  }
  if (!other) return std::nullopt;
  for (const SizedHeader& one : headers) sort_by_name(one, side, names_of(one, side));
  return fmt::format(
      "the {} are ({}) in {}.h, but {}: the package orders them by name, ({}); check your calls",
      side.word, join(first, ", "), program_name(model, headers.front().batch_size), *other,
      join(by_name, ", "));
}

// If the headers have the same names in different orders, sorts them by name, as tfaot compile
// does, and returns a remark with the new order. Headers that agree keep their order. Headers with
// different names, or without names, stay unchanged; later checks refuse them.
std::vector<std::string> unify_orders(const std::string& model,
                                      const std::vector<SizedHeader>& headers) {
  std::vector<std::string> remarks;
  for (const Side& side : {kInputs, kOutputs}) {
    if (auto remark = unify(model, headers, side)) remarks.push_back(std::move(*remark));
  }
  return remarks;
}

// A batch size in progress.
struct Program {
  const UpstreamProgram* files = nullptr;
  std::string where;  // its header
  std::string header_sha256;
  UpstreamHeader header;
  std::string object;
  ObjectConstants constants;
};

Result<Program> read_program(const FileSystem& files, const UpstreamModel& model,
                             const UpstreamProgram& one) {
  Program program{&one, one.header.string(), "", {}, "", {}};
  TFAOT_ASSIGN(const std::string text, files.read(one.header));
  program.header_sha256 = sha256_of(text);
  TFAOT_ASSIGN(program.header, read_upstream_header(text, program.where));
  const std::string expected = program_name(model.name, one.batch_size);
  if (program.header.class_name != expected) {
    return fail(Error::at({program.where}, fmt::format("its class is '{}' instead of '{}'",
                                                       program.header.class_name, expected)));
  }
  TFAOT_ASSIGN(program.object, files.read(one.object));
  auto constants = find_constants(program.object);
  if (!constants) return fail(Error::at({one.object.string()}, constants.error().message()));
  program.constants = std::move(*constants);
  const auto& functions = program.constants.functions;
  const std::string& entry = program.header.entry_symbol;
  if (!contains(functions, entry)) {
    return fail(Error::at({one.object.string()},
                          fmt::format("there is no function '{}', which the header names", entry)));
  }
  return program;
}

// The CPU level that the code needs. Not "native": the code may come from another machine.
Result<std::string> level_of(const Program& program, const std::string& wanted) {
  const std::string& machine = program.constants.machine;
  const std::vector<std::string> allowed = allowed_cpu_levels(machine);
  if (wanted.empty()) return allowed.front();
  if (wanted != "native" && contains(allowed, wanted)) {
    return wanted;
  }
  return fail(
      Error::usage(fmt::format("'{}' is not a CPU level of objects for {}", wanted, machine))
          .note("allowed: " + replace_all(describe_allowed_cpu_levels(machine), "native, ", "")));
}

// "x: float32 [3], y: bool []"
std::string tensors_text(const std::vector<TensorSpec>& tensors) {
  const auto words = mapped(tensors, [](const TensorSpec& tensor) {
    return fmt::format("{}: {} [{}]", tensor.name, word_of(tensor.dtype),
                       fmt::join(tensor.row_shape, ", "));
  });
  return join(words, ", ");
}

// A fact that must be the same for all batch sizes.
struct Common {
  const char* what;
  std::string here;
  std::string first;  // in the header of the first batch size
};

Status check_common(const Program& program, const std::vector<Common>& facts) {
  for (const Common& fact : facts) {
    if (fact.here == fact.first) continue;
    return fail(Error::at({program.where}, fmt::format("its {} differ from those of the other "
                                                       "batch sizes",
                                                       fact.what))
                    .note("here: " + fact.here)
                    .note("there: " + fact.first));
  }
  return {};
}

Status add_common(const Program& program, bool is_first, ConvertedModel& converted) {
  TFAOT_ASSIGN(Signature signature,
               row_signature(program.header, program.files->batch_size, program.where));
  const std::string triple = program.constants.machine + "-unknown-linux-gnu";
  CompiledModel& compiled = converted.compiled;
  if (is_first) {
    converted.namespace_name = program.header.namespace_name;
    compiled.signature = std::move(signature);
    compiled.target_triple = triple;
    return {};
  }
  const Signature& first = compiled.signature;
  return check_common(program,
                      {{"namespaces", program.header.namespace_name, converted.namespace_name},
                       {"machines", triple, compiled.target_triple},
                       {"inputs", tensors_text(signature.inputs), tensors_text(first.inputs)},
                       {"outputs", tensors_text(signature.outputs), tensors_text(first.outputs)}});
}

Status check_kernels(const Program& program, const CompiledCode& code,
                     const std::string& target_triple) {
  for (const std::string& kernel : code.kernels) {
    if (runtime_offers(kernel, target_triple)) continue;
    return fail(
        Error::at({program.files->object.string()},
                  fmt::format("the code calls '{}', which libtfaot_runtime does not have", kernel))
            .note("compile the model again: tfaot compile"));
  }
  return {};
}

// The package is complete without it, but a program that uses the package is not.
Status remark_on_missing(const Program& program, std::vector<std::string>& remarks) {
  TFAOT_ASSIGN(const auto symbols, undefined_symbols(program.object, {""}));
  for (const std::string& symbol : symbols) {
    if (symbol.starts_with("__xla") || system_offers(symbol)) continue;
    remarks.push_back(
        fmt::format("{} needs '{}', which neither the package nor libc, libm or libgcc has: link "
                    "the library that defines it",
                    program.files->object.filename().string(), symbol));
  }
  return {};
}

Result<CompiledCode> code_of(const Program& program, const ConvertOptions& options,
                             const std::string& target_triple) {
  TFAOT_ASSIGN(const std::string level, level_of(program, options.cpu_level));
  CompiledCode code;
  code.batch_size = program.files->batch_size;
  code.cpu_level = level;
  code.cpu_features = cpu_level(level).features;
  code.object = program.files->object.filename().string();
  code.entry_symbol = program.header.entry_symbol;
  TFAOT_ASSIGN(code.buffers, buffer_slots(program.header, program.where));
  code.result_slot = static_cast<std::uint32_t>(program.header.result_table);
  TFAOT_ASSIGN(code.kernels, undefined_symbols(program.object, {"__xla"}));
  TFAOT_TRY(check_kernels(program, code, target_triple));
  return code;
}

// The hash of everything that the package is made from, wherever it is.
std::string source_hash(const std::vector<Program>& programs) {
  Sha256 sha;
  for (const Program& program : programs) {
    const auto add = [&](const std::string& sha256, const Path& file) {
      sha.update(fmt::format("{}  {}\n", sha256, file.filename().string()));
    };
    add(program.header_sha256, program.files->header);
    add(sha256_of(program.object), program.files->object);
  }
  return sha.hex_digest();
}

// Writes the constants of all objects into one, and then every object in its final form.
Status write_objects(FileSystem& files, const UpstreamModel& model, const ConvertOptions& options,
                     const std::vector<Program>& programs, ConvertedModel& converted) {
  CompiledModel& compiled = converted.compiled;
  const std::string prefix = symbol_prefix(converted.namespace_name, model.name);
  SharedConstants shared(prefix + "_constants");
  std::map<std::string, std::vector<std::string>> users;  // objects by block
  for (const Program& program : programs) {
    const std::string name = program.files->object.filename().string();
    std::string object = program.object;
    converted.bytes_before += object.size();
    if (!program.constants.why_whole.empty()) {
      converted.whole.push_back({name, program.constants.why_whole});
    } else if (options.share_weights && !program.constants.sections.empty()) {
      std::vector<MovedSection> moved;
      for (const ConstantSection& section : program.constants.sections) {
        moved.push_back({section.section, shared.add(section.bytes)});
        users[moved.back().symbol].push_back(name);
        ++converted.constants;
      }
      TFAOT_ASSIGN(object, move_constants(program.object, moved));
    }
    if (program.constants.position_dependent) {
      converted.remarks.push_back(
          name + " is not position independent: it cannot be linked into a shared library");
    }
    converted.bytes_after += object.size();
    TFAOT_TRY(files.replace_atomically(options.work_directory / name, object));
  }
  if (shared.blob().empty()) return {};
  converted.distinct_constants = shared.symbols().size();
  for (const DataSymbol& block : shared.symbols()) {
    const std::vector<std::string>& objects = users[block.name];
    if (objects.size() == 1 && programs.size() > 1) {
      converted.alone.push_back({objects.front(), block.size});
    }
  }
  compiled.weights_object = weights_file_name(model.name);
  compiled.weights_symbol = symbol_name(weights_symbol(prefix), shared.blob());
  compiled.weights_size = shared.blob().size();
  std::vector<DataSymbol> symbols = shared.symbols();
  // For the headers, which may be used outside of the library that contains the objects.
  symbols.push_back({compiled.weights_symbol, 0, shared.blob().size()});
  TFAOT_ASSIGN(const std::string object,
               make_data_object(shared.blob(), symbols, compiled.target_triple));
  compiled.weights_object_sha256 = sha256_of(object);
  converted.bytes_after += object.size();
  return files.replace_atomically(options.work_directory / compiled.weights_object, object);
}

}  // namespace

Result<ConvertedModel> convert_model(FileSystem& files, const UpstreamModel& model,
                                     const ConvertOptions& options) {
  ConvertedModel converted;
  CompiledModel& compiled = converted.compiled;
  compiled.engine = "tfcompile";
  std::vector<Program> programs;
  std::vector<SizedHeader> headers;
  programs.reserve(model.programs.size());
  for (const UpstreamProgram& one : model.programs) {
    TFAOT_ASSIGN(Program program, read_program(files, model, one));
    programs.push_back(std::move(program));
    headers.push_back({one.batch_size, &programs.back().header});
  }
  converted.remarks = unify_orders(model.name, headers);
  for (const Program& program : programs) {
    TFAOT_TRY(add_common(program, &program == &programs.front(), converted));
    TFAOT_ASSIGN(CompiledCode code, code_of(program, options, compiled.target_triple));
    TFAOT_TRY(remark_on_missing(program, converted.remarks));
    compiled.cpu_levels = {code.cpu_level};
    compiled.codes.push_back(std::move(code));
    compiled.batch_sizes.push_back(program.files->batch_size);
  }
  TFAOT_TRY(write_objects(files, model, options, programs, converted));
  compiled.source_sha256 = source_hash(programs);
  return converted;
}

}  // namespace tfaot::toolkit
