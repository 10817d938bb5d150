// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "aside_file.h"
#include "tests/support/memory_tree.h"

namespace tfaot::toolkit::testing {
namespace {

constexpr std::size_t kChunk = 1 << 20;

tl::unexpected<Error> failed(const Path& path, std::string action, int error_number) {
  return fail(file_error(path, {std::move(action), error_number}));
}

Path parent_of(const Path& path) {
  return path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
}

// The contents at the time it was opened.
class OpenedContents final : public OpenedFile {
 public:
  explicit OpenedContents(std::string contents) : contents_(std::move(contents)) {}

  Result<std::string> read_range(const ByteRange& range) const override {
    return contents_.substr(std::min<std::size_t>(range.offset, contents_.size()), range.size);
  }
  Result<std::uint64_t> size() const override { return contents_.size(); }

 private:
  std::string contents_;
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : tree_(std::make_unique<MemoryTree>()) {}
MemoryFileSystem::~MemoryFileSystem() = default;

MemoryFileSystem::MemoryFileSystem(
    std::initializer_list<std::pair<const std::string, std::string>> files)
    : MemoryFileSystem() {
  for (const auto& [path, contents] : files) {
    const Status written = replace_atomically(path, contents);
    if (!written) throw std::invalid_argument(written.error().text());  // a mistake in the test
  }
  changes_ = 0;
}

void MemoryFileSystem::inject(const Fault& fault) {
  fault_ = fault;
  changes_ = 0;
}

Status MemoryFileSystem::begin_change(const Path& path, const std::string& action) {
  ++changes_;
  if (!fault_ || changes_ < fault_->change || (changes_ > fault_->change && !fault_->all_after)) {
    return {};
  }
  return failed(path, action, fault_->reason);
}

bool MemoryFileSystem::is_executable(const Path& path) const {
  const auto file = tree_->find_file(path);
  return file && (*file)->executable;
}

void MemoryFileSystem::set_executable(const Path& file) {
  tree_->find_file(file).value()->executable = true;
}

Result<FileKind> MemoryFileSystem::look(const Path& path, Links links) const {
  const auto place = tree_->find(path, links);
  if (place) return place->node == nullptr ? FileKind::kMissing : place->node->kind;
  if (is_absence(place.error())) return FileKind::kMissing;
  return failed(path, "look at it", place.error());
}

Status MemoryFileSystem::read_chunks(const Path& path, const ChunkSink& sink) const {
  const auto file = tree_->find_file(path);
  if (!file) return failed(path, "read", file.error());
  const std::string contents = (*file)->contents;
  for (std::string_view rest = contents; !rest.empty();) {
    TFAOT_TRY(sink(rest.substr(0, kChunk)));
    rest.remove_prefix(std::min(kChunk, rest.size()));
  }
  return {};
}

Result<std::unique_ptr<OpenedFile>> MemoryFileSystem::open(const Path& path) const {
  TFAOT_ASSIGN(std::string contents, read(path));
  return std::make_unique<OpenedContents>(std::move(contents));
}

Result<std::uint64_t> MemoryFileSystem::size(const Path& path) const {
  const auto file = tree_->find_file(path);
  if (!file) return failed(path, "get the size", file.error());
  return (*file)->contents.size();
}

Result<std::vector<std::string>> MemoryFileSystem::list(const Path& directory) const {
  auto folder = tree_->find_existing(directory);
  if (folder && (*folder)->kind != FileKind::kDirectory) folder = tl::unexpected(ENOTDIR);
  if (!folder) return failed(directory, "list the folder", folder.error());
  std::vector<std::string> names;
  for (const auto& [name, node] : (*folder)->children) names.push_back(name);
  return names;
}

Status MemoryFileSystem::put(const Path& path, std::string_view contents) {
  TFAOT_TRY(begin_change(path, "write"));
  if (const auto made = tree_->make_directories(parent_of(path)); !made) {
    return failed(parent_of(path), "make the folder", made.error());
  }
  auto file = std::make_unique<MemoryNode>();
  file->kind = FileKind::kFile;
  file->contents = contents;
  file->last_used = ++clock_;
  const auto old = tree_->find(path, Links::kKeep);
  file->executable = old && old->node != nullptr && old->node->executable;
  if (const auto put = tree_->put(path, std::move(file)); !put) {
    return failed(path, "replace", put.error());
  }
  return {};
}

Status MemoryFileSystem::write_chunks(const Path& path,
                                      const std::function<Status(const ChunkSink&)>& producer,
                                      Durability) {
  std::string contents;
  TFAOT_TRY(producer([&contents](std::string_view chunk) -> Status {
    contents += chunk;
    return {};
  }));
  return put(path, contents);
}

Result<bool> MemoryFileSystem::claim(const Path& path) {
  if (kind(path) != FileKind::kMissing) return false;
  TFAOT_TRY(replace_atomically(path, ""));
  return true;
}

Status MemoryFileSystem::copy_file(const Path& from, const Path& to) {
  TFAOT_ASSIGN(const std::string contents, read(from));
  const bool executable = is_executable(from);
  TFAOT_TRY(replace_atomically(to, contents));
  tree_->find_file(to).value()->executable = executable;
  return {};
}

Status MemoryFileSystem::copy_entry(const Path& from, const Path& to) {
  if (kind(from) == FileKind::kSymlink) {
    TFAOT_ASSIGN(const Path target, read_symlink(from));
    return replace_symlink(target, to);
  }
  TFAOT_TRY(copy_file(from, to));
  tree_->find_file(to).value()->last_used = tree_->find_file(from).value()->last_used;
  return {};
}

Status MemoryFileSystem::move_file(const Path& from, const Path& to) {
  TFAOT_TRY(copy_file(from, to));
  const auto place = tree_->find(from, Links::kKeep);
  place->parent->children.erase(place->name);
  return {};
}

Status MemoryFileSystem::create_directories(const Path& path) {
  TFAOT_TRY(begin_change(path, "make the folder"));
  if (const auto made = tree_->make_directories(path); !made) {
    return failed(path, "make the folder", made.error());
  }
  return {};
}

Status MemoryFileSystem::rename(const Path& from, const Path& to) {
  const std::string action = "rename to '" + to.string() + "'";
  TFAOT_TRY(begin_change(from, action));
  if (const auto renamed = tree_->rename(from, to); !renamed) {
    return failed(from, action, renamed.error());
  }
  return {};
}

Status MemoryFileSystem::exchange(const Path& first, const Path& second) {
  const std::string action = "exchange with '" + second.string() + "'";
  TFAOT_TRY(begin_change(first, action));
  if (const auto exchanged = tree_->exchange(first, second); !exchanged) {
    return failed(first, action, exchanged.error());
  }
  return {};
}

Status MemoryFileSystem::replace_symlink(const Path& target, const Path& link) {
  TFAOT_TRY(begin_change(link, "make the link"));
  if (const auto made = tree_->make_directories(parent_of(link)); !made) {
    return failed(parent_of(link), "make the folder", made.error());
  }
  auto node = std::make_unique<MemoryNode>();
  node->kind = FileKind::kSymlink;
  node->target = target;
  if (const auto put = tree_->put(link, std::move(node)); !put) {
    return failed(link, "make the link", put.error());
  }
  return {};
}

Result<Path> MemoryFileSystem::read_symlink(const Path& link) const {
  const auto place = tree_->find(link, Links::kKeep);
  if (!place) return failed(link, "read the link", place.error());
  if (place->node == nullptr) return failed(link, "read the link", ENOENT);
  if (place->node->kind != FileKind::kSymlink) return failed(link, "read the link", EINVAL);
  return place->node->target;
}

Status MemoryFileSystem::remove_all(const Path& path) {
  TFAOT_TRY(begin_change(path, "remove"));
  const auto place = tree_->find(path, Links::kKeep);
  if (place && place->parent != nullptr) place->parent->children.erase(place->name);
  return {};
}

Status MemoryFileSystem::remove_half_written(const Path& folder) {
  for (const std::string& name : list(folder).value_or(std::vector<std::string>())) {
    if (is_aside_name(name)) TFAOT_TRY(remove_all(folder / name));
  }
  return {};
}

Result<std::int64_t> MemoryFileSystem::last_used(const Path& path) const {
  const auto file = tree_->find_file(path);
  if (!file) return failed(path, "get the time", file.error());
  return (*file)->last_used;
}

Status MemoryFileSystem::mark_used(const Path& path) {
  TFAOT_TRY(begin_change(path, "change the time"));
  const auto file = tree_->find_file(path);
  if (!file) return failed(path, "change the time", file.error());
  (*file)->last_used = ++clock_;
  return {};
}

}  // namespace tfaot::toolkit::testing
