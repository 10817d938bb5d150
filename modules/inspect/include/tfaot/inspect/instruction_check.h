// SPDX-License-Identifier: Apache-2.0
// Looks for instructions that arithmetic does not need: system calls, locks, clocks, random
// numbers, calls by an address, a change of the arithmetic. Finds what a compiler makes of such
// code, not what someone hides between other instructions. Safe from many threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct FoundInstruction {
  std::string function;  // that holds it
  std::string text;      // "syscall"
  std::string what;      // "a system call"
};

struct InstructionCheck {
  std::uint64_t instructions = 0;  // that were read
  std::vector<FoundInstruction> found;
};

// Reads what objdump writes, line by line.
class InstructionReader {
 public:
  // "x86_64" or "aarch64".
  explicit InstructionReader(std::string machine) : machine_(std::move(machine)) {}

  void read(const std::string& line);
  // At the end.
  InstructionCheck result();

 private:
  const std::string& what_of(const std::string& mnemonic);
  void settle();

  std::string machine_;
  std::map<std::string, std::string> known_;  // by mnemonic
  std::string function_;
  std::string call_by_address_;  // until a relocation names what is called
  InstructionCheck check_;
};

// Starts binutils' objdump for the object's machine: `program`. Error: it is not installed, or
// cannot read the object.
Result<InstructionCheck> check_instructions(const Path& object, const std::string& machine,
                                            const std::string& program);

}  // namespace tfaot::toolkit
