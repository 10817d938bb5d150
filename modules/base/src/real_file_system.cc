// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>

#include "descriptor.h"
#include "file_errors.h"
#include "tfaot/base/file_system.h"

namespace tfaot {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kChunk = 1 << 20;

tl::unexpected<Error> failed(const Path& path, const char* action, int error_number = errno) {
  return fail(file_error(path, {action, error_number}));
}

// "link/" would name what the link points to; an operation on the entry itself must not.
Path without_trailing_slash(const Path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

// Errors are errno's values, so that callers can say what they were about to do.
struct OpenedFile {
  Descriptor descriptor;
  struct stat status;
};
tl::expected<OpenedFile, int> open_to_read(const Path& path) {
  // O_NONBLOCK: a pipe at this path must fail, not wait for a writer.
  OpenedFile file{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), {}};
  if (!file.descriptor.valid()) return tl::unexpected(errno);
  if (::fstat(file.descriptor.get(), &file.status) != 0) return tl::unexpected(errno);
  if (S_ISDIR(file.status.st_mode)) return tl::unexpected(EISDIR);
  if (!S_ISREG(file.status.st_mode)) return tl::unexpected(EINVAL);
  return file;
}

Status feed(const Path& path, const OpenedFile& file,
            const std::function<Status(std::string_view)>& sink) {
  std::string buffer(std::min(kChunk, static_cast<std::size_t>(file.status.st_size) + 1), '\0');
  for (;;) {
    const ssize_t count = ::read(file.descriptor.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, "read");
    if (count == 0) return {};
    TFAOT_TRY(sink(std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  }
}

// A new file beside `path` that becomes `path` by commit(), and vanishes when it does not.
class Aside {
 public:
  static Result<Aside> create(const Path& path, mode_t mode) {
    std::error_code ec;
    const Path target = without_trailing_slash(path);
    const Path folder = target.has_parent_path() ? target.parent_path() : Path(".");
    stdfs::create_directories(folder, ec);
    if (ec) return failed(folder, "make the folder", ec.value());
    std::random_device random;
    for (;;) {
      const Path aside = folder / (".tfaot-" + std::to_string(random()) + ".tmp");
      const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (fd >= 0) return Aside(Descriptor(fd), aside, target);
      if (errno != EEXIST) return failed(path, "write");
    }
  }
  Aside(Aside&&) = default;
  Aside& operator=(Aside&&) = delete;
  ~Aside() {
    if (!aside_.empty()) ::unlink(aside_.c_str());
  }

  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed(target_, "write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status commit() {
    if (::fsync(descriptor_.get()) != 0 || descriptor_.close() != 0)
      return failed(target_, "write");
    if (::rename(aside_.c_str(), target_.c_str()) != 0) return failed(target_, "replace");
    aside_.clear();
    return {};
  }

 private:
  Aside(Descriptor descriptor, Path aside, Path target)
      : descriptor_(std::move(descriptor)), aside_(std::move(aside)), target_(std::move(target)) {}

  Descriptor descriptor_;
  Path aside_;
  Path target_;
};

}  // namespace

FileKind RealFileSystem::kind(const Path& path) const {
  std::error_code ec;
  switch (stdfs::symlink_status(without_trailing_slash(path), ec).type()) {
    case stdfs::file_type::regular:
      return FileKind::kFile;
    case stdfs::file_type::directory:
      return FileKind::kDirectory;
    case stdfs::file_type::symlink:
      return FileKind::kSymlink;
    case stdfs::file_type::none:
    case stdfs::file_type::not_found:
      return FileKind::kMissing;
    default:
      return FileKind::kOther;
  }
}

Result<std::string> RealFileSystem::read(const Path& path) const {
  std::string contents;
  TFAOT_TRY(read_chunks(path, [&contents](std::string_view chunk) -> Status {
    contents += chunk;
    return {};
  }));
  return contents;
}

Status RealFileSystem::read_chunks(const Path& path,
                                   const std::function<Status(std::string_view)>& sink) const {
  const auto file = open_to_read(path);
  if (!file) return failed(path, "read", file.error());
  return feed(path, *file, sink);
}

Result<std::uint64_t> RealFileSystem::size(const Path& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed(path, "get the size");
  if (S_ISDIR(status.st_mode)) return failed(path, "get the size", EISDIR);
  if (!S_ISREG(status.st_mode)) return failed(path, "get the size", EINVAL);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::vector<std::string>> RealFileSystem::list(const Path& directory) const {
  std::vector<std::string> names;
  std::error_code ec;
  stdfs::directory_iterator entry(directory, ec);
  for (; !ec && entry != stdfs::directory_iterator(); entry.increment(ec)) {
    names.push_back(entry->path().filename().string());
  }
  if (ec) return failed(directory, "list the folder", ec.value());
  std::sort(names.begin(), names.end());
  return names;
}

Status RealFileSystem::replace_atomically(const Path& path, std::string_view contents) {
  TFAOT_ASSIGN(Aside aside, Aside::create(path, 0666));
  TFAOT_TRY(aside.write(contents));
  return aside.commit();
}

Status RealFileSystem::copy_file(const Path& from, const Path& to) {
  const auto source = open_to_read(from);
  if (!source) return failed(from, "read", source.error());
  const mode_t mode = (source->status.st_mode & S_IXUSR) != 0 ? 0777 : 0666;
  TFAOT_ASSIGN(Aside aside, Aside::create(to, mode));
  TFAOT_TRY(feed(from, *source, [&aside](std::string_view chunk) { return aside.write(chunk); }));
  return aside.commit();
}

Status RealFileSystem::create_directories(const Path& path) {
  std::error_code ec;
  stdfs::create_directories(path, ec);
  if (ec) return failed(path, "make the folder", ec.value());
  return {};
}

Status RealFileSystem::rename(const Path& from, const Path& to) {
  if (::rename(without_trailing_slash(from).c_str(), without_trailing_slash(to).c_str()) != 0) {
    const int error_number = errno;
    return fail(file_error(from, {"rename to '" + to.string() + "'", error_number}));
  }
  return {};
}

Status RealFileSystem::replace_symlink(const Path& target, const Path& link) {
  const Path entry = without_trailing_slash(link);
  const Path folder = entry.has_parent_path() ? entry.parent_path() : Path(".");
  TFAOT_TRY(create_directories(folder));
  std::random_device random;
  for (;;) {
    const Path aside = folder / (".tfaot-" + std::to_string(random()) + ".tmp");
    if (::symlink(target.c_str(), aside.c_str()) != 0) {
      if (errno == EEXIST) continue;
      return failed(link, "make the link");
    }
    if (::rename(aside.c_str(), entry.c_str()) == 0) return {};
    const int error_number = errno;
    ::unlink(aside.c_str());
    return failed(link, "make the link", error_number);
  }
}

Result<Path> RealFileSystem::read_symlink(const Path& link) const {
  std::error_code ec;
  Path target = stdfs::read_symlink(without_trailing_slash(link), ec);
  if (ec) return failed(link, "read the link", ec.value());
  return target;
}

Status RealFileSystem::remove_all(const Path& path) {
  std::error_code ec;
  stdfs::remove_all(without_trailing_slash(path), ec);
  if (ec) return failed(path, "remove", ec.value());
  return {};
}

Status RealFileSystem::set_executable(const Path& path, bool executable) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed(path, "change the mode");
  constexpr mode_t kExecuteBits = S_IXUSR | S_IXGRP | S_IXOTH;
  const mode_t readable = (status.st_mode & (S_IRUSR | S_IRGRP | S_IROTH)) >> 2;  // r is x << 2
  const mode_t mode = executable ? status.st_mode | readable : status.st_mode & ~kExecuteBits;
  if (::chmod(path.c_str(), mode & 07777) != 0) return failed(path, "change the mode");
  return {};
}

}  // namespace tfaot
