// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/real_file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "aside_file.h"
#include "descriptor.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {
namespace {

namespace stdfs = std::filesystem;

constexpr std::size_t kChunk = 1 << 20;

tl::unexpected<Error> failed(const Path& path, const char* action, int error_number = errno) {
  return fail(file_error(path, {action, error_number}));
}

// Errors are errno's values, so that callers can name what they were about to do.
struct ReadableFile {
  Descriptor descriptor;
  struct stat status;
};
tl::expected<ReadableFile, int> open_to_read(const Path& path) {
  // O_NONBLOCK: a pipe at this path must fail, not wait for a writer.
  ReadableFile file{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), {}};
  if (!file.descriptor.valid()) return tl::unexpected(errno);
  if (::fstat(file.descriptor.get(), &file.status) != 0) return tl::unexpected(errno);
  if (S_ISDIR(file.status.st_mode)) return tl::unexpected(EISDIR);
  if (!S_ISREG(file.status.st_mode)) return tl::unexpected(EINVAL);
  return file;
}

class FileOnDisk final : public OpenedFile {
 public:
  FileOnDisk(Path path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Result<std::string> read_range(const ByteRange& range) const override {
    TFAOT_ASSIGN(const std::uint64_t file_size, size());
    const std::uint64_t behind = file_size - std::min(range.offset, file_size);
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(range.size, behind)), '\0');
    for (std::size_t done = 0; done < bytes.size();) {
      TFAOT_TRY(check_interrupts());
      const ssize_t count = ::pread(descriptor_.get(), bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(range.offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed(path_, "read");
      if (count == 0) bytes.resize(done);  // someone shortened the file
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

  Result<std::uint64_t> size() const override {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0) return failed(path_, "get the size");
    return static_cast<std::uint64_t>(status.st_size);
  }

 private:
  Path path_;
  Descriptor descriptor_;
};

Status feed(const Path& path, const ReadableFile& file,
            const std::function<Status(std::string_view)>& sink) {
  std::string buffer(std::min(kChunk, static_cast<std::size_t>(file.status.st_size) + 1), '\0');
  for (;;) {
    TFAOT_TRY(check_interrupts());
    const ssize_t count = ::read(file.descriptor.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(path, "read");
    if (count == 0) return {};
    TFAOT_TRY(sink(std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  }
}

}  // namespace

Result<FileKind> RealFileSystem::look(const Path& path, Links links) const {
  struct stat status {};
  const Path entry = without_trailing_slash(path);
  const int error =
      links == Links::kFollow ? ::stat(entry.c_str(), &status) : ::lstat(entry.c_str(), &status);
  if (error != 0) {
    if (is_absence(errno)) return FileKind::kMissing;
    return failed(path, "look at it");
  }
  if (S_ISREG(status.st_mode)) return FileKind::kFile;
  if (S_ISDIR(status.st_mode)) return FileKind::kDirectory;
  return S_ISLNK(status.st_mode) ? FileKind::kSymlink : FileKind::kOther;
}

Status RealFileSystem::read_chunks(const Path& path, const ChunkSink& sink) const {
  const auto file = open_to_read(path);
  if (!file) return failed(path, "read", file.error());
  return feed(path, *file, sink);
}

Result<std::unique_ptr<OpenedFile>> RealFileSystem::open(const Path& path) const {
  auto file = open_to_read(path);
  if (!file) return failed(path, "read", file.error());
  return std::make_unique<FileOnDisk>(path, std::move(file->descriptor));
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

Status RealFileSystem::write_chunks(const Path& path,
                                    const std::function<Status(const ChunkSink&)>& producer,
                                    Durability durability) {
  TFAOT_ASSIGN(AsideFile aside, AsideFile::create(path, 0666));
  TFAOT_TRY(producer([&aside](std::string_view chunk) { return aside.write(chunk); }));
  TFAOT_TRY(aside.keep_permissions());
  return aside.commit(durability);
}

Result<bool> RealFileSystem::claim(const Path& path) {
  TFAOT_TRY(check_interrupts());
  const Path target = without_trailing_slash(path);
  TFAOT_TRY(create_directories(folder_of(target)));
  const Descriptor made(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (made.valid()) return true;
  if (errno == EEXIST) return false;
  return failed(path, "write");
}

Status RealFileSystem::copy_file(const Path& from, const Path& to) {
  const auto source = open_to_read(from);
  if (!source) return failed(from, "read", source.error());
  const mode_t mode = (source->status.st_mode & S_IXUSR) != 0 ? 0777 : 0666;
  TFAOT_ASSIGN(AsideFile aside, AsideFile::create(to, mode));
  TFAOT_TRY(feed(from, *source, [&aside](std::string_view chunk) { return aside.write(chunk); }));
  return aside.commit();
}

Status RealFileSystem::copy_entry(const Path& from, const Path& to) {
  if (kind(from) == FileKind::kSymlink) {
    TFAOT_ASSIGN(const Path target, read_symlink(from));
    return replace_symlink(target, to);
  }
  const auto source = open_to_read(from);
  if (!source) return failed(from, "read", source.error());
  TFAOT_ASSIGN(AsideFile aside, AsideFile::create(to, 0666));
  TFAOT_TRY(feed(from, *source, [&aside](std::string_view chunk) { return aside.write(chunk); }));
  TFAOT_TRY(aside.take_after(source->status));
  return aside.commit();
}

Status RealFileSystem::move_file(const Path& from, const Path& to) {
  TFAOT_TRY(check_interrupts());
  {
    const auto source = open_to_read(from);
    if (!source) return failed(from, "read", source.error());
    if (::fsync(source->descriptor.get()) != 0) return failed(from, "write");
  }
  const Path target = without_trailing_slash(to);
  TFAOT_TRY(create_directories(folder_of(target)));
  if (kind(from) == FileKind::kFile) {
    if (::rename(from.c_str(), target.c_str()) == 0) return {};
    if (errno != EXDEV) return failed(to, "replace");
  }
  TFAOT_TRY(copy_file(from, to));
  return remove_all(from);
}

Status RealFileSystem::create_directories(const Path& path) {
  TFAOT_TRY(check_interrupts());
  std::error_code ec;
  stdfs::create_directories(path, ec);
  if (ec) return failed(path, "make the folder", ec.value());
  return {};
}

Status RealFileSystem::rename(const Path& from, const Path& to) {
  TFAOT_TRY(check_interrupts());
  if (::rename(without_trailing_slash(from).c_str(), without_trailing_slash(to).c_str()) != 0) {
    const int error_number = errno;
    return fail(file_error(from, {"rename to '" + to.string() + "'", error_number}));
  }
  return {};
}

Status RealFileSystem::exchange(const Path& first, const Path& second) {
  TFAOT_TRY(check_interrupts());
  const Path a = without_trailing_slash(first);
  const Path b = without_trailing_slash(second);
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return {};
  const int error_number = errno;
  return fail(file_error(first, {"exchange with '" + second.string() + "'", error_number}));
}

Status RealFileSystem::replace_symlink(const Path& target, const Path& link) {
  const InterruptWatch watch;  // nobody could recognize a link that was left behind
  TFAOT_TRY(check_interrupts());
  const Path entry = without_trailing_slash(link);
  TFAOT_TRY(create_directories(folder_of(entry)));
  for (;;) {
    const Path aside = aside_path(entry);
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

// A living writer has a lock on its file (aside_file.h).
Status RealFileSystem::remove_half_written(const Path& folder) {
  if (kind(folder) != FileKind::kDirectory) return {};
  TFAOT_ASSIGN(const std::vector<std::string> names, list(folder));
  for (const std::string& name : names) {
    if (!is_aside_name(name)) continue;
    const Path path = folder / name;
    // Opened for writing: on another machine's disk (NFS), a file opened only for reading does not
    // show a writer's lock.
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(path, "remove");
  }
  return {};
}

Result<std::int64_t> RealFileSystem::last_used(const Path& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed(path, "get the time");
  if (S_ISDIR(status.st_mode)) return failed(path, "get the time", EISDIR);
  constexpr std::int64_t kNanosecondsInASecond = 1'000'000'000;
  return status.st_mtim.tv_sec * kNanosecondsInASecond + status.st_mtim.tv_nsec;
}

Status RealFileSystem::mark_used(const Path& path) {
  TFAOT_TRY(check_interrupts());
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) return failed(path, "change the time");
  return {};
}

}  // namespace tfaot::toolkit
