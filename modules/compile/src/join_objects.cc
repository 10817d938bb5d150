// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/join_objects.h"

#include <fmt/format.h>

#include "tfaot/base/process.h"
#include "tfaot/elf/symbols.h"

namespace tfaot::toolkit {
namespace {

constexpr std::chrono::minutes kLinkerTimeout{5};

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
  TFAOT_ASSIGN(const auto joined,
               run_tool(linker, {fmt::format("the linker '{}', which joins objects, cannot be "
                                             "started",
                                             request.linker),
                                 "install it (Debian: binutils)"}));
  if (!joined.ok()) {
    return fail(with_last_words(
        Error::at({request.output.string()}, "the objects cannot be joined"), joined));
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

}  // namespace tfaot::toolkit
