// SPDX-License-Identifier: Apache-2.0
#include "tfaot/load/loaded_model.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
// An opened library; its symbols live as long, and other libraries do not see them.
class SharedLibrary {
 public:
  static Result<SharedLibrary> open(const Path& file) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return SharedLibrary(file, handle);
    const char* const why = ::dlerror();
    return fail(Error::at({file.string()}, "the library cannot be loaded")
                    .note(why == nullptr ? "no reason is known" : why));
  }

  Result<void*> symbol(const std::string& name) const {
    if (void* const address = ::dlsym(handle_.get(), name.c_str()); address != nullptr) {
      return address;
    }
    return fail(Error::at({file_.string()}, fmt::format("the library has no symbol '{}'", name))
                    .note("the package's record is of another code"));
  }

 private:
  struct Close {
    void operator()(void* handle) const { ::dlclose(handle); }
  };
  SharedLibrary(Path file, void* handle) : file_(std::move(file)), handle_(handle) {}

  Path file_;
  std::unique_ptr<void, Close> handle_;
};

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

::tfaot::BufferKind runtime_kind(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput:
      return ::tfaot::BufferKind::kInput;
    case BufferKind::kOutput:
      return ::tfaot::BufferKind::kOutput;
    case BufferKind::kWeight:
      return ::tfaot::BufferKind::kWeight;
    case BufferKind::kTemporary:
      return ::tfaot::BufferKind::kTemporary;
    case BufferKind::kLiveRows:
      return ::tfaot::BufferKind::kLiveRows;
    case BufferKind::kTasks:
      return ::tfaot::BufferKind::kTasks;
    case BufferKind::kUnused:
      break;
  }
  return ::tfaot::BufferKind::kUnused;
}

std::vector<::tfaot::TensorInfo> tensor_infos(const std::vector<TensorSpec>& tensors) {
  return mapped(tensors, [&](const TensorSpec& tensor) {
    return ::tfaot::TensorInfo{tensor.name.c_str(), tensor.dtype, tensor.row_shape.data(),
                               tensor.row_shape.size(), row_elements(tensor)};
  });
}

constexpr std::chrono::minutes kLinkerTimeout{10};

Path runtime_of(const LinkRequest& request) {
  return request.runtime.empty() ? request.tree / kRuntimeLibrary : request.runtime;
}

Status check_package(const FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  const std::string processor = manifest.architecture.substr(0, manifest.architecture.find('-'));
  if (processor != request.machine) {
    return fail(
        Error::at({request.tree.string()}, fmt::format("the package is for '{}', this machine is "
                                                       "'{}'",
                                                       processor, request.machine))
            .note("run it on a machine that can run it"));
  }
  if (is_file(fs, runtime_of(request))) return {};
  return fail(
      Error::at({request.tree.string()}, fmt::format("the package has no {}", kRuntimeLibrary))
          .note("it was made by an older tfaot; compile the model again"));
}

std::vector<std::string> linker_arguments(const Manifest& manifest, const LinkRequest& request) {
  // No symbol may stay open, and those of the runtime are not seen by other libraries.
  std::vector<std::string> arguments = split_words(
      "-shared -Bsymbolic --gc-sections --exclude-libs ALL --build-id=none -z defs -z now "
      "-z noexecstack -o");
  arguments.push_back(request.output.string());
  for (const Path& object : request.objects) arguments.push_back(object.string());
  for (const ManifestFile& file : manifest.files) {
    if (!request.objects.empty() || !is_object_file(file.path)) continue;
    arguments.push_back((request.tree / file.path).string());
  }
  arguments.push_back(runtime_of(request).string());
  // The very files that this process has loaded: no search path, and no development package.
  arguments.emplace_back("--as-needed");
  for (const Path& library : loaded_standard_libraries()) arguments.push_back(library.string());
  return arguments;
}

}  // namespace

// The tables point into the records and into each other, so nothing moves once it is made.
struct LoadedModel::Parts {
  Parts(Path path, SharedLibrary opened, Manifest of_package, CompiledModel of_code)
      : file(std::move(path)),
        library(std::move(opened)),
        manifest(std::move(of_package)),
        compiled(std::move(of_code)) {}

  Status fill(const WrapEntry& wrap);

  Path file;
  SharedLibrary library;
  Manifest manifest;
  CompiledModel compiled;
  std::vector<::tfaot::TensorInfo> inputs;
  std::vector<::tfaot::TensorInfo> outputs;
  std::deque<std::string> features;                    // by code
  std::deque<std::vector<::tfaot::BufferSlot>> slots;  // by code
  std::deque<std::vector<::tfaot::Code>> codes;        // by program
  std::vector<::tfaot::Program> programs;
  ::tfaot::Description description{};

 private:
  Result<::tfaot::Code> make_code(const CompiledCode& code, const WrapEntry& wrap);
  std::size_t fill_slots(const CompiledCode& code);
};

// The slots of templates/program_header.h; returns the bytes of scratch.
std::size_t LoadedModel::Parts::fill_slots(const CompiledCode& code) {
  std::vector<::tfaot::BufferSlot>& table = slots.emplace_back();
  std::uint64_t scratch = 0;
  for (const BufferSlot& buffer : code.buffers) {
    ::tfaot::BufferSlot slot{runtime_kind(buffer.kind), buffer.index, 0, buffer.size};
    if (buffer.kind == BufferKind::kWeight) {
      slot.index = code.weights[buffer.index];
      slot.offset = compiled.weights[slot.index].offset;
    }
    if (buffer.kind == BufferKind::kTemporary) {
      slot.offset = scratch;
      scratch +=
          (buffer.size + ::tfaot::kAlignment - 1) / ::tfaot::kAlignment * ::tfaot::kAlignment;
    }
    table.push_back(slot);
  }
  return scratch;
}

Result<::tfaot::Code> LoadedModel::Parts::make_code(const CompiledCode& code,
                                                    const WrapEntry& wrap) {
  TFAOT_ASSIGN(void* const address, library.symbol(code.entry_symbol));
  ::tfaot::Code made{};
  made.cpu_level = code.cpu_level.c_str();
  made.cpu_features = features.emplace_back(join(code.cpu_features, " ")).c_str();
  static_assert(sizeof made.entry == sizeof address);
  std::memcpy(&made.entry, &address, sizeof address);  // POSIX: a function is where dlsym() says
  if (wrap) made.entry = wrap(code, made.entry);
  made.scratch_bytes = fill_slots(code);
  made.slots = slots.back().data();
  made.slot_count = slots.back().size();
  made.result_slot = code.result_slot;
  made.cost = measured_cost(manifest, code.batch_size, code.cpu_level);
  made.estimated_cost = code.estimated_cost;
  made.live_permille = code.live_permille;
  made.shared_permille = code.shared_permille;
  made.lane_bytes = code.lane_bytes;
  return made;
}

Status LoadedModel::Parts::fill(const WrapEntry& wrap) {
  inputs = tensor_infos(compiled.signature.inputs);
  outputs = tensor_infos(compiled.signature.outputs);
  for (const std::int64_t batch_size : compiled.batch_sizes) {
    std::vector<::tfaot::Code>& of_size = codes.emplace_back();
    for (const CompiledCode& code : compiled.codes) {
      if (code.batch_size != batch_size) continue;
      TFAOT_ASSIGN(const ::tfaot::Code made, make_code(code, wrap));
      of_size.push_back(made);
    }
    programs.push_back({static_cast<std::size_t>(batch_size), of_size.data(), of_size.size()});
  }
  if (!compiled.weights_object.empty()) {
    TFAOT_ASSIGN(const void* const weights, library.symbol(compiled.weights_symbol));
    description.weights = static_cast<const unsigned char*>(weights);
    description.weights_bytes = compiled.weights_size;
  }
  description.name = manifest.name.c_str();
  description.version = manifest.version.c_str();
  description.inputs = inputs.data();
  description.input_count = inputs.size();
  description.outputs = outputs.data();
  description.output_count = outputs.size();
  description.programs = programs.data();
  description.program_count = programs.size();
  description.coupled_rows = manifest.rows == RowsMode::kCoupled;
  if (manifest.record) {
    description.record_version = manifest.record->version;
    description.record_hash = manifest.record->hash.c_str();
  }
  return {};
}

LoadedModel::LoadedModel(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
LoadedModel::~LoadedModel() = default;

Result<std::shared_ptr<const LoadedModel>> LoadedModel::open(const Path& library, Manifest manifest,
                                                             CompiledModel compiled,
                                                             const WrapEntry& wrap) {
  TFAOT_ASSIGN(SharedLibrary opened, SharedLibrary::open(library));
  auto parts =
      std::make_unique<Parts>(library, std::move(opened), std::move(manifest), std::move(compiled));
  TFAOT_TRY(parts->fill(wrap));
  return std::shared_ptr<const LoadedModel>(new LoadedModel(std::move(parts)));
}

const Manifest& LoadedModel::manifest() const { return parts_->manifest; }
const CompiledModel& LoadedModel::compiled() const { return parts_->compiled; }
const Path& LoadedModel::file() const { return parts_->file; }
const ::tfaot::Description& LoadedModel::description() const { return parts_->description; }

Status link_model(FileSystem& fs, const Manifest& manifest, const LinkRequest& request) {
  TFAOT_TRY(check_package(fs, manifest, request));
  ProcessSpec linker;
  linker.program = request.linker;
  linker.timeout = kLinkerTimeout;
  linker.arguments = linker_arguments(manifest, request);
  auto linked = run_tool(linker, {fmt::format("the linker '{}', which makes a package's code "
                                              "loadable, cannot be started",
                                              request.linker),
                                  "install it (Debian: binutils)"});
  if (linked && linked->ok()) return {};
  static_cast<void>(fs.remove_all(request.output));
  if (!linked) return fail(std::move(linked).error());
  return fail(with_last_words(
      Error::at({request.tree.string()}, "the package's objects cannot be linked"), *linked));
}

}  // namespace tfaot::toolkit
