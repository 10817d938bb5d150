// SPDX-License-Identifier: Apache-2.0
// The constants of an ELF object, its weights among them: XLA puts them into .rodata and reaches
// them by relocations against that section. They can be taken out, and the relocations be turned to
// symbols of another object, because a relocation says no more than "this symbol's address plus so
// much". What can be done so is decided here, section by section; all else of the object stays.
// Pure functions on bytes; safe from many threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A read-only section that other objects may share.
struct ConstantSection {
  std::size_t section = 0;  // its index
  std::string bytes;
};

struct ObjectConstants {
  std::string machine;  // "x86_64" or "aarch64"
  std::vector<ConstantSection> sections;
  std::string why_whole;               // when not empty, no section can be taken out
  bool position_dependent = false;     // libraries cannot hold it
  std::vector<std::string> functions;  // that others may call
};

// Fails for what is no relocatable object for x86-64 or aarch64. No section wants more than 64
// bytes of alignment.
Result<ObjectConstants> find_constants(const std::string& object);

struct MovedSection {
  std::size_t section = 0;
  std::string symbol;  // where its bytes are now
};
// The object without the bytes of these sections. REQUIRES: find_constants() named them. The
// symbols are hidden: whoever links the object links the one that defines them.
Result<std::string> move_constants(const std::string& object,
                                   const std::vector<MovedSection>& moved);

}  // namespace tfaot::toolkit
