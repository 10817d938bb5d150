// SPDX-License-Identifier: Apache-2.0
#include "tfaot/load/loaded_model.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "model_tables.h"

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

struct LoadedModel::Parts {
  Parts(Path path, SharedLibrary opened, Manifest manifest, CompiledModel compiled)
      : file(std::move(path)),
        library(std::move(opened)),
        tables(std::move(manifest), std::move(compiled)) {}

  // The addresses, which the tables lack.
  Status fill(const WrapEntry& wrap) {
    for (const ModelTables::Entry& entry : tables.entries()) {
      TFAOT_ASSIGN(void* const address, library.symbol(entry.compiled->entry_symbol));
      static_assert(sizeof entry.code->entry == sizeof address);
      // POSIX: a function is where dlsym() says.
      std::memcpy(&entry.code->entry, &address, sizeof address);
      if (wrap) entry.code->entry = wrap(*entry.compiled, entry.code->entry);
    }
    if (tables.compiled().weights_object.empty()) return {};
    TFAOT_ASSIGN(const void* const weights, library.symbol(tables.compiled().weights_symbol));
    tables.set_weights(static_cast<const unsigned char*>(weights));
    return {};
  }

  Path file;
  SharedLibrary library;
  ModelTables tables;
};

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

const Manifest& LoadedModel::manifest() const { return parts_->tables.manifest(); }
const CompiledModel& LoadedModel::compiled() const { return parts_->tables.compiled(); }
const Path& LoadedModel::file() const { return parts_->file; }
const ::tfaot::Description& LoadedModel::description() const {
  return parts_->tables.description();
}

}  // namespace tfaot::toolkit
