// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/instruction_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// Mnemonics, as objdump writes them. A star at the end: all that begin so.
struct InstructionKind {
  const char* what;
  std::string_view mnemonics;
};

constexpr auto kOnX86 = std::to_array<InstructionKind>({
    {"a system call",
     "syscall sysenter sysexit* sysret* int int1 int3 into iret* hlt vmcall vmmcall vmfunc enclu "
     "enclv encls monitor* mwait* umonitor umwait tpause senduipi clui stui"},
    {"input or output",
     "in inb inw inl insb insw insl ins out outb outw outl outsb outsw outsl "
     "outs"},
    {"a clock", "rdtsc rdtscp rdpmc"},
    {"a question about the processor",
     "cpuid rdpid xgetbv smsw* sgdt* sidt* sldt* str rdmsr* rdpkru rdfsbase rdgsbase"},
    {"a random number", "rdrand rdseed"},
    {"a transaction", "xbegin xend xabort xtest"},
    {"a change of the processor's state",
     "ldmxcsr vldmxcsr fldcw* fldenv* frstor* fxrstor* xrstor* finit fninit wrmsr* wrpkru "
     "wrfsbase wrgsbase swapgs cli sti lgdt* lidt* lldt* lmsw* ltr* xsetbv invlpg* wbinvd invd"},
    {"no instruction", "(bad) .byte"},
});

constexpr auto kOnAarch64 = std::to_array<InstructionKind>({
    {"a system call", "svc hvc smc hlt eret wfe wfi sev sevl"},
    {"a clock or a question about the processor", "mrs mrrs"},
    {"a change of the processor's state", "msr msrr sys sysl dc ic at tlbi"},
    {"a lock",
     "ldxr* ldaxr* stxr* stlxr* ldxp* ldaxp* stxp* stlxp* cas* swp* ldadd* ldclr* ldeor* ldset* "
     "ldsmax* ldsmin* ldumax* ldumin* stadd* stclr* steor* stset* stsmax* stsmin* stumax* "
     "stumin*"},
    {"no instruction", ".inst udf undefined"},
});

constexpr std::string_view kPrefixes =
    "lock rep repz repnz repe repne cs ds es ss fs gs data16 data32 addr32 notrack bnd xacquire "
    "xrelease rex rex.W rex.X rex.R rex.B";

bool is_among(std::string_view mnemonics, std::string_view name) {
  return std::ranges::any_of(split_words(mnemonics), [&](const std::string& one) {
    if (!one.ends_with('*')) return one == name;
    return name.starts_with(std::string_view(one).substr(0, one.size() - 1));
  });
}

template <std::size_t kCount>
std::string what_among(const std::array<InstructionKind, kCount>& kinds, std::string_view name) {
  const auto found = std::ranges::find_if(
      kinds, [&](const InstructionKind& kind) { return is_among(kind.mnemonics, name); });
  return found == kinds.end() ? "" : found->what;
}

struct Instruction {
  std::vector<std::string> prefixes;
  std::string mnemonic;
  std::string operands;
};

// "lock cmpxchg %ecx,(%rdx)    # comment" in its parts.
Instruction parsed_instruction(const std::string& text) {
  Instruction instruction;
  for (const std::string& word : split_words(text)) {
    if (word == "#" || word.starts_with("//")) break;
    if (!instruction.mnemonic.empty()) {
      instruction.operands += word;
    } else if (is_one_of(kPrefixes, word)) {
      instruction.prefixes.push_back(word);
    } else {
      instruction.mnemonic = word;
    }
  }
  return instruction;
}

// What its prefixes and operands do that arithmetic does not need; else empty.
std::string what_of_operands_on_x86(const Instruction& instruction) {
  const std::string& operands = instruction.operands;
  const bool exchanges_memory = instruction.mnemonic.starts_with("xchg") && contains(operands, '(');
  if (contains(instruction.prefixes, "lock") || exchanges_memory) return "a lock";
  if (operands.find("%fs:") != std::string::npos || operands.find("%gs:") != std::string::npos) {
    return "memory of the thread";
  }
  return "";
}

// A jump to an address in a register is how compilers leave a switch, so it stays allowed.
bool is_by_address(const Instruction& instruction) {
  const std::string& name = instruction.mnemonic;
  const bool is_call = name == "call" || name == "callq" || name == "lcall";
  const bool is_jump = name == "jmp" || name == "jmpq" || name == "ljmp";
  const bool is_star = instruction.operands.starts_with('*');
  return (is_call && is_star) || (is_jump && is_star && contains(instruction.operands, '(')) ||
         name == "lcall" || name == "ljmp" || name.starts_with("blr");
}

}  // namespace

// Which of these an instruction is does not depend on its operands, so it is looked up once.
const std::string& InstructionReader::what_of(const std::string& mnemonic) {
  const auto [known, is_new] = known_.try_emplace(mnemonic);
  if (is_new) {
    known->second =
        machine_ == "aarch64" ? what_among(kOnAarch64, mnemonic) : what_among(kOnX86, mnemonic);
  }
  return known->second;
}

void InstructionReader::settle() {
  if (call_by_address_.empty()) return;
  check_.found.push_back({function_, std::move(call_by_address_), "a call of any address"});
  call_by_address_.clear();
}

void InstructionReader::read(const std::string& line) {
  // "\t\t\t2: R_X86_64_GOTPCRELX\texpf-0x4": a call by an address is fine if the linker puts a
  // symbol's there, which the check of symbols sees.
  if (line.find(": R_") != std::string::npos) {
    if (line.find("_GOTPC") != std::string::npos) call_by_address_.clear();
    return;
  }
  settle();
  // "0000000000000000 <function>:"
  if (line.ends_with(">:")) {
    const auto start = line.find('<');
    if (start != std::string::npos) function_ = line.substr(start + 1, line.size() - start - 3);
    return;
  }
  // "  1f:\tmov    %rax,%rbx"
  const auto tab = line.find(":\t");
  if (tab == std::string::npos || line.empty() || line.front() != ' ') return;
  const Instruction instruction = parsed_instruction(line.substr(tab + 2));
  if (instruction.mnemonic.empty() && instruction.prefixes.empty()) return;
  ++check_.instructions;
  const std::string text = trim(join(instruction.prefixes, " ") + " " + instruction.mnemonic + " " +
                                instruction.operands);
  std::string what = what_of(instruction.mnemonic);
  if (what.empty() && machine_ == "x86_64") what = what_of_operands_on_x86(instruction);
  if (!what.empty()) {
    check_.found.push_back({function_, text, what});
  } else if (is_by_address(instruction)) {
    call_by_address_ = text;
  }
}

InstructionCheck InstructionReader::result() {
  settle();
  return std::move(check_);
}

Result<InstructionCheck> check_instructions(const Path& object, const std::string& machine,
                                            const std::string& program) {
  InstructionReader reader(machine);
  ProcessSpec process;
  process.program = program;
  process.arguments = {"--disassemble", "--reloc", "--no-show-raw-insn", object.string()};
  process.environment = {{"LC_ALL", "C"}};
  process.timeout = std::chrono::minutes(10);
  process.on_stdout_line = [&reader](const std::string& line) { reader.read(line); };
  TFAOT_ASSIGN(const ProcessResult ended,
               run_tool(process, {fmt::format("'{}' cannot be started", program),
                                  "install it (Debian: binutils)"}));
  if (!ended.ok()) {
    return fail(with_last_words(
        Error(fmt::format("{} cannot read {}", program, object.filename().string())), ended));
  }
  return reader.result();
}

}  // namespace tfaot::toolkit
