// SPDX-License-Identifier: Apache-2.0
// A program that measures, whose clock is arithmetic. Real engines are in tests/e2e.
#pragma once

#include <regex>
#include <string>

#include "tests/support/executable_file.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {

// A call takes a microsecond, another engine's takes three; each allocates twice.
inline constexpr const char* kRunner = R"sh(#!/bin/sh
ns=1000
apart=0
case "$*" in *engine=onnxruntime*) ns=3000 apart=0.5;; esac
echo "$*" >> "$TFAOT_CACHE_DIR/started"
case "$*" in *model=*broken*) echo 'INFO: [a.cc:54] I log' >&2; echo 'no such operator' >&2; exit 1;; esac
case "$*" in *model=*large*) much=$(head -c 200000000 /dev/zero | tr '\0' x); sleep 1000;; esac
echo ready 2000000
while read -r verb number; do
  case $verb in
    prepare) echo ok $apart 1;;
    time) echo $((ns * number)) $((ns * number));;
    allocations) echo $((2 * number)) $((64 * number));;
    operations) echo;;
  esac
done
)sh";

// What is this machine's own.
inline std::string masked(std::string text) {
  text = std::regex_replace(text, std::regex("(: doubtful times)?\n  [^\n]*; noise [^\n]*"),
                            "\n  MACHINE");
  text =
      std::regex_replace(text, std::regex("tfaot: warning: (the machine|the clock)[^\n]*\n"), "");
  const std::size_t memory = text.find("load ms");
  if (memory == std::string::npos) return text;
  return text.substr(0, memory) +
         std::regex_replace(text.substr(memory), std::regex(" +[0-9.]+( [kMG]B| bytes)?(?=  |\n)"),
                            " #");
}

// Below the folder that the tool is installed in.
inline void write_fake_runner(const Path& prefix) {
  RealFileSystem files;
  const Path runner = prefix / "libexec/tfaot/tfaot-runner";
  static_cast<void>(files.replace_atomically(runner, kRunner));
  make_executable(runner);
  static_cast<void>(
      files.replace_atomically(prefix / TFAOT_LIBDIR "/tfaot/libtfaot_count_allocations.so", ""));
}

}  // namespace tfaot::toolkit::testing
