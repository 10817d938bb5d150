// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/join_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/elf_handles.h"
#include "tfaot/compile/elf_objects.h"

namespace tfaot::toolkit {
namespace {

constexpr std::chrono::minutes kLinkerTimeout{5};
constexpr std::size_t kShownLines = 5;

Status join_into(FileSystem& fs, const JoinRequest& request, const Path& aside) {
  ProcessSpec linker;
  linker.program = request.linker;
  linker.timeout = kLinkerTimeout;
  linker.arguments = {"-r", "-o", aside.string()};
  for (const std::string& symbol : request.wanted) {
    linker.arguments.insert(linker.arguments.end(), {"-u", symbol});
  }
  for (const Path& object : request.objects) linker.arguments.push_back(object.string());
  for (const Path& archive : request.archives) linker.arguments.push_back(archive.string());
  const auto joined = run_process(linker);
  if (!joined) {
    if (interrupting_signal() != 0) return fail(joined.error());
    return fail(Error(fmt::format("the linker '{}', which joins objects, cannot be started",
                                  request.linker))
                    .note(joined.error().text())
                    .note("install it (Debian: binutils)"));
  }
  if (!joined->ok()) {
    Error error = Error::at({request.output.string()}, "the objects cannot be joined");
    for (const auto& line : last_lines(joined->standard_error, kShownLines)) error.note(line);
    return fail(std::move(error));
  }
  if (!request.weak) return fs.rename(aside, request.output);
  TFAOT_ASSIGN(const auto strong, fs.read(aside));
  TFAOT_ASSIGN(const auto weak, weakened(strong));
  TFAOT_TRY(fs.replace_atomically(request.output, weak));
  return fs.remove_all(aside);
}

}  // namespace

Status join_objects(FileSystem& fs, const JoinRequest& request) {
  const Path aside = request.output.string() + ".joined";
  Status joined = join_into(fs, request, aside);
  if (!joined) static_cast<void>(fs.remove_all(aside));
  return joined;
}

Result<std::vector<std::string>> archive_symbols(const FileSystem& fs, const Path& archive,
                                                 const std::vector<std::string>& prefixes) {
  TFAOT_ASSIGN(std::string bytes, fs.read(archive));
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_memory(bytes.data(), bytes.size()));
  std::size_t count = 0;
  const Elf_Arsym* symbols = elf ? elf_getarsym(elf.get(), &count) : nullptr;
  if (symbols == nullptr) {
    return fail(Error::at({archive.string()}, "not an archive with an index of symbols"));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    if (symbols[i].as_name == nullptr) continue;  // the last one
    const std::string name = symbols[i].as_name;
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [&name](const std::string& prefix) { return name.starts_with(prefix); })) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace tfaot::toolkit
