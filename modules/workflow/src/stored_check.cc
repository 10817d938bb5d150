// SPDX-License-Identifier: Apache-2.0
#include "stored_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "profile_inputs.h"
#include "tfaot/arrays/compare.h"
#include "tfaot/arrays/fill.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/load/predictor.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/tune/tune.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"
#include "validated_model.h"

namespace tfaot::toolkit {
namespace {

// A check costs little: as many compiled sizes as these allow at one level, at least one. By
// estimates, since measured times would give another file each time.
constexpr std::uint64_t kMostPicoseconds = 50'000'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;  // of inputs and outputs
constexpr std::size_t kMostNumbers = 256;                      // kept of each call
constexpr std::uint64_t kCheckMoves = 4;  // as `tfaot validate` moves a model's inputs

constexpr std::array kKinds = {InputKind::kRandom, InputKind::kOnes, InputKind::kZeros};

// The outputs of calls, by their rows.
using CallOutputs = std::map<std::int64_t, std::vector<Array>>;

std::uint64_t bytes_of_row(const Signature& signature) {
  std::uint64_t bytes = 0;
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      bytes += row_elements(tensor) * size_of(tensor.dtype);
    }
  }
  return bytes;
}

std::vector<std::int64_t> sizes_to_check(const CompiledModel& compiled) {
  std::vector<std::int64_t> sizes;
  std::uint64_t cost = 0;
  for (const std::int64_t size : compiled.batch_sizes) {
    std::uint64_t most = 0;
    for (const CompiledCode& code : compiled.codes) {
      if (code.batch_size == size) most = std::max(most, code.estimated_cost);
    }
    cost += most;
    const std::uint64_t bytes = static_cast<std::uint64_t>(size) * bytes_of_row(compiled.signature);
    if (!sizes.empty() && (cost > kMostPicoseconds || bytes > kMostBytes)) break;
    sizes.push_back(size);
  }
  return sizes;
}

// What may change the last bits of the same code: which loops the runtime takes depends on the
// caches, and some functions are the C library's.
std::string machine_text(const FileSystem& files) {
  std::string libc(64, '\0');
  libc.resize(std::max<std::size_t>(::confstr(_CS_GNU_LIBC_VERSION, libc.data(), libc.size()), 1) -
              1);
  return fmt::format("{}, caches {} {} {}, {}", cpu_name(files), ::sysconf(_SC_LEVEL1_DCACHE_SIZE),
                     ::sysconf(_SC_LEVEL2_CACHE_SIZE), ::sysconf(_SC_LEVEL3_CACHE_SIZE), libc);
}

std::string hex_of(const std::string& bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

// REQUIRES: an even number of hexadecimal digits.
std::string bytes_of_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::vector<std::size_t> kept_places(const Array& array, std::size_t kept) {
  return stored_places(array.bytes.size() / size_of(array.dtype), kept);
}

// The numbers at some places, in a flat array.
Array numbers_at(const Array& array, const std::vector<std::size_t>& places) {
  const std::size_t size = size_of(array.dtype);
  Array numbers{array.name, array.dtype, {static_cast<std::int64_t>(places.size())}, {}};
  for (const std::size_t place : places) numbers.bytes += array.bytes.substr(place * size, size);
  return numbers;
}

StoredOutput stored_output(const Array& array, std::size_t outputs) {
  const std::size_t elements = array.bytes.size() / size_of(array.dtype);
  const std::size_t kept = std::min(
      elements, std::max<std::size_t>(kMostNumbers / std::max<std::size_t>(outputs, 1), 1));
  const Array all{array.name, array.dtype, {static_cast<std::int64_t>(elements)}, array.bytes};
  return {compare_arrays(all, all).scale,
          hex_of(numbers_at(array, kept_places(array, kept)).bytes)};
}

// Empty if it is this machine's.
std::string foreign_processor(const Context& context, const Manifest& manifest) {
  const std::string processor = processor_of(manifest.target_triple);
  const std::string& machine = context.environment.architecture;
  if (processor == machine) return "";
  return fmt::format("its code is for '{}', this machine is '{}'", processor, machine);
}

// Runs calls of a package's code.
class Calls {
 public:
  Calls(Context& context, const RunnableCode& code) : context_(context), code_(code) {}

  // Empty if the code can be run here.
  std::string why_not() {
    if (std::string why = foreign_processor(context_, code_.manifest); !why.empty()) return why;
    levels_ = runnable_levels(code_.compiled);
    if (levels_.empty()) {
      return "this CPU can run none of its levels: " + join(code_.manifest.cpu_levels, ", ");
    }
    const auto runner = find_runner(context_);
    if (!runner) return "this tfaot was installed without tfaot-runner";
    runner_ = *runner;
    for (const std::string& folder : split_words(context_.environment.variable("PATH"), ":")) {
      if (is_file(context_.files, Path(folder) / code_.link.linker)) return "";
    }
    return fmt::format("there is no linker '{}' here (Debian: binutils)", code_.link.linker);
  }

  const std::vector<std::string>& levels() const { return levels_; }

  Status link() {
    LinkRequest request = code_.link;
    request.output = library();
    request.machine = context_.environment.architecture;
    TFAOT_TRY(link_model(context_.files, code_.manifest, request));
    Manifest manifest = code_.manifest;
    manifest.record.reset();  // its hash is of files that a new manifest does not list yet
    TFAOT_TRY(write("manifest.json", manifest_to_json(manifest)));
    CompiledModel tables = code_.compiled;
    tables.hlo_text.clear();
    return write("record.json", compiled_model_to_json(tables));
  }

  // The same arrays for every level.
  Status set_inputs(const std::vector<Array>& inputs) {
    const Signature& signature = code_.manifest.signature;
    tensors_.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = fmt::format("input_{}", i);
      TFAOT_TRY(write(name, inputs[i].bytes));
      tensors_.push_back("input=" + tensor_setting(signature.inputs[i]));
      tensors_.push_back("input_file=" + (code_.folder / name).string());
    }
    for (const TensorSpec& output : signature.outputs) {
      tensors_.push_back("output=" + tensor_setting(output));
    }
    return {};
  }

  // Each number of rows as one call of its compiled size. Error: the code crashed, hung or failed.
  Result<CallOutputs> run(const std::string& level, const std::vector<std::int64_t>& sizes) {
    RunnerSpec spec;
    spec.program = runner_;
    spec.timeout = engine_time(context_);
    spec.memory = engine_memory(context_);
    spec.settings = {"engine=package",
                     "first=0",
                     "cpu_level=" + level,
                     "library=" + library().string(),
                     "manifest=" + (code_.folder / "manifest.json").string(),
                     "record=" + (code_.folder / "record.json").string()};
    for (const std::int64_t size : sizes) {
      if (composes_batches(code_.manifest)) {
        spec.settings.push_back(fmt::format("batch_rule={0}:{0}", size));
      }
    }
    spec.settings.insert(spec.settings.end(), tensors_.begin(), tensors_.end());
    TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context_.files, spec));
    const Path prefix = code_.folder / "output_";
    CallOutputs predictions;
    for (const std::int64_t size : sizes) {
      TFAOT_TRY(runner->prepare(size));
      TFAOT_TRY(runner->write_outputs(prefix));
      TFAOT_ASSIGN(predictions[size], read_outputs(prefix, size));
    }
    return predictions;
  }

 private:
  Path library() const { return code_.folder / "code.so"; }

  Status write(const std::string& name, const std::string& text) {
    return context_.files.replace_atomically(code_.folder / name, text, Durability::kScratch);
  }

  Result<std::vector<Array>> read_outputs(const Path& prefix, std::int64_t rows) const {
    std::vector<Array> outputs;
    for (const TensorSpec& tensor : code_.manifest.signature.outputs) {
      Array array = make_array(tensor, rows);
      const Path file = prefix.string() + std::to_string(outputs.size());
      TFAOT_ASSIGN(std::string bytes, context_.files.read(file));
      if (bytes.size() != array.bytes.size()) {
        return fail(Error::at({file.string()}, fmt::format("has {} bytes instead of {}",
                                                           bytes.size(), array.bytes.size())));
      }
      array.bytes = std::move(bytes);
      outputs.push_back(std::move(array));
    }
    return outputs;
  }

  Context& context_;
  const RunnableCode& code_;
  Path runner_;
  std::vector<std::string> levels_;   // that run here, ascending
  std::vector<std::string> tensors_;  // settings of the runner
};

// A model may predict NaN for random inputs, and then no damage would show.
bool shows_numbers(const CallOutputs& predictions) {
  return std::ranges::all_of(predictions.rbegin()->second, has_numbers);
}

std::vector<Array> check_inputs(const Manifest& manifest, const StoredCheck& check,
                                std::int64_t rows) {
  return edge_arrays(manifest.signature.inputs,
                     {.kind = check.inputs, .rows = rows, .seed = check.seed});
}

void add_bits(StoredCheck& check, const std::string& level, const CallOutputs& predictions) {
  for (StoredCall& call : check.calls) {
    call.bits.push_back({level, sha256_of_arrays(predictions.at(call.rows))});
  }
}

// How the numbers of a level differ from the stored ones, in one output of one call.
struct Compared {
  std::int64_t rows = 0;
  std::size_t output = 0;
  ArrayDifference difference;
};

class Checker {
 public:
  Checker(Context& context, const RunnableCode& code, StoredCheck check, Path package)
      : context_(context),
        code_(code),
        calls_(context, code),
        check_(std::move(check)),
        package_(std::move(package)) {
    for (const StoredCall& call : check_.calls) sizes_.push_back(call.rows);
  }

  Result<DeepCheck> run() {
    result_.why_not = calls_.why_not();
    if (!result_.why_not.empty()) return result_;
    inputs_ = check_inputs(code_.manifest, check_, sizes_.back());
    if (sha256_of_arrays(inputs_) != check_.inputs_sha256) {
      result_.why_not = "this tfaot makes other inputs than the one that stored the check";
      return result_;
    }
    for (const std::string& level : code_.manifest.cpu_levels) {
      if (!contains(calls_.levels(), level)) result_.skipped.push_back(level);
    }
    result_.calls = sizes_.size();
    TFAOT_TRY(calls_.link());
    for (const std::string& level : calls_.levels()) TFAOT_TRY(check_level(level));
    return result_;
  }

 private:
  Status check_level(const std::string& level) {
    moved_.clear();
    TFAOT_TRY(calls_.set_inputs(inputs_));
    const auto ran = calls_.run(level, sizes_);
    TFAOT_TRY(check_interrupts());
    if (!ran) {
      return fail(Error::at({package_.string()},
                            fmt::format("its code does not run to its end at {}", level))
                      .note(ran.error().text()));
    }
    const std::size_t other = calls_with_other_bits(level, *ran);
    if (other == 0) {
      result_.same.push_back(level);
      return {};
    }
    const bool is_stored = other <= check_.calls.size();
    if (is_stored && check_.machine == machine_text(context_.files)) {
      return fail(damaged(level, worst_of(*ran), "the same machine gave other bits"));
    }
    return check_numbers(level, *ran);
  }

  // More than there are calls if no bits of the level are stored.
  std::size_t calls_with_other_bits(const std::string& level, const CallOutputs& ran) const {
    std::size_t other = 0;
    for (const StoredCall& call : check_.calls) {
      const auto stored = std::ranges::find(call.bits, level, &StoredBits::cpu_level);
      if (stored == call.bits.end()) return check_.calls.size() + 1;
      other += stored->sha256 == sha256_of_arrays(ran.at(call.rows)) ? 0 : 1;
    }
    return other;
  }

  // Right code rounds otherwise at another level: what `tfaot validate` allows is allowed.
  Status check_numbers(const std::string& level, const CallOutputs& ran) {
    Compared worst = worst_of(ran);
    if (share_of(worst) > 1 && worst.difference.nonfinite == 0) {
      TFAOT_TRY(find_moves(level, ran));
      worst = worst_of(ran);
    }
    if (worst.difference.nonfinite > 0 || share_of(worst) > 1) {
      return fail(damaged(level, worst, "other machines and levels may round otherwise"));
    }
    result_.close.push_back(level);
    result_.share = std::max(result_.share, share_of(worst));
    return {};
  }

  // How far each output moves if the inputs do, to their neighbours.
  Status find_moves(const std::string& level, const CallOutputs& still) {
    moved_.assign(code_.manifest.signature.outputs.size(), 0);
    for (std::uint64_t move = 1; move <= kCheckMoves; ++move) {
      TFAOT_TRY(calls_.set_inputs(moved_arrays(inputs_, {}, move)));
      TFAOT_ASSIGN(const CallOutputs moved, calls_.run(level, sizes_));
      for (const std::int64_t rows : sizes_) {
        for (std::size_t i = 0; i < moved_.size(); ++i) {
          const auto difference = compare_arrays(moved.at(rows)[i], still.at(rows)[i]);
          moved_[i] = std::max(moved_[i], difference.largest);
        }
      }
    }
    return {};
  }

  Compared compare(const CallOutputs& ran, const StoredCall& call, std::size_t output) const {
    const Array& array = ran.at(call.rows)[output];
    const std::string stored = bytes_of_hex(call.outputs[output].numbers);
    const std::size_t kept = stored.size() / size_of(array.dtype);
    const Array numbers = numbers_at(array, kept_places(array, kept));
    Compared compared{call.rows, output,
                      compare_arrays(numbers, {array.name, array.dtype, numbers.shape, stored})};
    compared.difference.scale = call.outputs[output].scale;
    if (!moved_.empty() && is_real(array.dtype)) compared.difference.moved = moved_[output];
    return compared;
  }

  double share_of(const Compared& compared) const {
    const DType dtype = code_.manifest.signature.outputs[compared.output].dtype;
    const Manifest& manifest = code_.manifest;
    const Tolerance tolerance =
        tolerance_for(dtype, usual_tolerance(manifest.weights.type, manifest.compute));
    const double allowed = allowance(compared.difference, tolerance);
    if (compared.difference.largest == 0) return 0;
    return allowed > 0 ? compared.difference.largest / allowed
                       : std::numeric_limits<double>::infinity();
  }

  Compared worst_of(const CallOutputs& ran) const {
    Compared worst;
    double most = -1;
    for (const StoredCall& call : check_.calls) {
      for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        const Compared compared = compare(ran, call, i);
        const double share = compared.difference.nonfinite > 0
                                 ? std::numeric_limits<double>::infinity()
                                 : share_of(compared);
        if (share <= most) continue;
        worst = compared;
        most = share;
      }
    }
    return worst;
  }

  Error damaged(const std::string& level, const Compared& worst, const char* why) const {
    const TensorSpec& tensor = code_.manifest.signature.outputs[worst.output];
    Error error = Error::at({package_.string()},
                            fmt::format("its code predicts something else at {} than when the "
                                        "package was made",
                                        level));
    const ArrayDifference& difference = worst.difference;
    if (difference.unequal == 0) {
      error.note(
          fmt::format("none of the numbers that {} keeps differs, but others do", kCheckName));
    } else if (difference.nonfinite > 0) {
      error.note(
          fmt::format("output '{}', {} rows: {} of {} numbers are NaN or infinite in only "
                      "one of the two",
                      shown(tensor.name), worst.rows, difference.nonfinite, difference.numbers));
    } else {
      error.note(
          fmt::format("output '{}', {} rows: {} of {} numbers differ, by up to {:.3g}, "
                      "where numbers are up to {:.3g}",
                      shown(tensor.name), worst.rows, difference.unequal, difference.numbers,
                      difference.largest, difference.scale));
    }
    return error.note(why).note(
        "its files fit their hashes, so both were changed: take the package from its source again");
  }

  Context& context_;
  const RunnableCode& code_;
  Calls calls_;
  StoredCheck check_;
  Path package_;
  std::vector<std::int64_t> sizes_;
  std::vector<Array> inputs_;
  std::vector<double> moved_;  // by output; empty: not asked
  DeepCheck result_;
};

}  // namespace

Result<MadeCheck> make_stored_check(Context& context, const RunnableCode& code) {
  Calls calls(context, code);
  if (std::string why = calls.why_not(); !why.empty()) return MadeCheck{{}, std::move(why)};
  const std::vector<std::int64_t> sizes = sizes_to_check(code.compiled);
  const std::string& best = calls.levels().back();
  TFAOT_TRY(calls.link());
  StoredCheck check;
  check.machine = machine_text(context.files);
  check.cpu_level = best;
  CallOutputs predictions;
  for (const InputKind kind : kKinds) {
    check.inputs = kind;
    const std::vector<Array> inputs = check_inputs(code.manifest, check, sizes.back());
    check.inputs_sha256 = sha256_of_arrays(inputs);
    TFAOT_TRY(calls.set_inputs(inputs));
    TFAOT_ASSIGN(predictions, calls.run(best, sizes));
    if (shows_numbers(predictions)) break;
  }
  for (const std::int64_t size : sizes) {
    const std::vector<Array>& outputs = predictions.at(size);
    const auto stored = [&](const Array& array) { return stored_output(array, outputs.size()); };
    check.calls.push_back({size, mapped(outputs, stored), {}});
  }
  for (const std::string& level : calls.levels()) {
    if (level == best) continue;
    TFAOT_ASSIGN(const CallOutputs of_level, calls.run(level, sizes));
    add_bits(check, level, of_level);
  }
  add_bits(check, best, predictions);
  return MadeCheck{std::move(check), ""};
}

Result<DeepCheck> run_stored_check(Context& context, const Path& tree, const Manifest& manifest,
                                   const Path& package) {
  if (std::string why = foreign_processor(context, manifest); !why.empty()) {
    return DeepCheck{.why_not = std::move(why)};
  }
  const Path file = tree / kCheckName;
  if (!contains(manifest.files, kCheckName, &ManifestFile::path)) {
    return DeepCheck{.why_not =
                         "no check is stored in it: it was made by an older tfaot, or on a "
                         "machine that could not run it"};
  }
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, file, kCheckLimit));
  TFAOT_ASSIGN(StoredCheck check, stored_check_from_json(manifest, text, file.string()));
  TFAOT_ASSIGN(const std::string record, read_package_record(context.files, tree, manifest));
  TFAOT_ASSIGN(const PackagedModel model,
               package_record_from_json(manifest, record, (tree / kRecordName).string()));
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  const RunnableCode code{
      manifest, model.compiled, {.tree = tree, .output = {}, .machine = {}}, scratch.path()};
  return Checker(context, code, std::move(check), package).run();
}

}  // namespace tfaot::toolkit
