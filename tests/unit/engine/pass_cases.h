// SPDX-License-Identifier: Apache-2.0
// Tests of passes: HLO in, HLO out. A file of passes/ has cases, each a test of its own
// ("norm_calls.OfEachChannel"):
//
//   // RUN: replace_normalisation         the head: what holds for all cases
//   // ---- LET moments                   text that cases insert as $moments or ${moments}
//   mean = f32[2,4] divide(total, counts)
//   // ---- OfEachChannel                 a case: its name, its sentences, its checks, its module
//   // As exporters of PyTorch write it.
//   // CHECK: call group_norm points=24 groups=4
//   ENTRY e { ... $moments ... }
//
// Computations in the head are part of every module. Words of the head and of cases:
//
//   RUN: a b..d         passes by name, or from one to another, in the order of passes.def
//   INPUTS: 2           parameters from there on are weights; 1 if nothing is said
//   CHOICES: weights=int8 compute=bfloat16 fast_math=off optimize=size
//   LET: name = text    as a section LET; text may use other names;
//                       a case may change one that the head has
//   FOR: a b = 1 2 | 3 4
//                       runs the case for $a = 1 and $b = 2, then for 3 and 4
//   REPLACE: this => that
//                       everywhere in the module, which must have it
//   INPUT: 1 2 3        the numbers of the next parameter; all kinds of numbers if nothing is said
//   RESULT: 1 2 3       the numbers of the result; "as before" if nothing is said; or "any"
//   TOLERANCE: 1e-5     of the result, relative to its largest number; 0: every bit
//   CHECK: , CHECK-NOT: what must, and must not, hold afterwards
//   REMARK: y: no ...   the remarks, in order: these and no others
//   ERROR: text         a pass fails with this text
//
// The checks. Of lists, CHECK says all words, in order, or "none"; CHECK-NOT some that are not
// there:
//
//   kernels matmul_f32  the kernels that are called; those in loops first
//   left add sine       operations that depend on inputs and are left to XLA, sorted
//   products 10x8       rows and depth of each product of inputs that is left, sorted
//   transposed 480      the bytes that transposes of inputs write
//   parameters 3        the number of parameters
//   facts unchanged     of "live_rows", "tasks", and "unchanged" for the module
//   call gelu size=8    a call of the kernel with these members of its struct (abi.h), "operands=4"
//                       or "operand.2=" a shape, an opcode or "parameter(1)". The second line about
//                       a kernel is about its second call.
//   op dot 2            the operations of the entry computation with this opcode; CHECK-NOT has no
//   inner dot 2         number. Those of all other computations.
//   line * dot(f32[4]*  a part of an instruction as XLA prints it; '*' is any text
//   root negate(add(*   the opcodes that make the result
//
// A word that does not exist, a LET that is not used, and a case that checks nothing are errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::testing {

struct PassDirective {
  std::string word, text;
};

// A module with the values of one FOR.
struct PassRun {
  std::string values;  // "a=1 b=2"
  std::vector<PassDirective> directives;
  std::string module;
};

struct PassCase {
  std::string name;
  int line = 0;
  std::vector<PassRun> runs;
};

Result<std::vector<PassCase>> read_pass_cases(std::string_view text);

// Runs the passes; says what is not as the directives have it.
std::vector<std::string> problems_of(const PassRun& run);

}  // namespace tfaot::toolkit::testing
