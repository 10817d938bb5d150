// SPDX-License-Identifier: Apache-2.0
// The constants of an ELF object, such as weights. XLA puts them into .rodata and reaches them by
// relocations against that section. They can be taken out of the object: the relocations are then
// redirected to symbols of another object, because a relocation only says "this symbol's address
// plus an addend". This header decides section by section what can be taken out; the rest of the
// object stays as it is. Pure functions on bytes; safe from many threads.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/elf/data_object.h"

namespace tfaot::toolkit {

// A read-only section that other objects may share.
struct ConstantSection {
  std::size_t section = 0;  // its index
  std::string bytes;
};

struct ObjectConstants {
  std::string machine;  // "x86_64" or "aarch64"
  std::vector<ConstantSection> sections;
  std::string why_whole;               // if not empty, no section can be taken out
  bool position_dependent = false;     // it cannot be linked into a shared library
  std::vector<std::string> functions;  // that other objects may call
};

// Fails for anything that is not a relocatable object for x86-64 or aarch64. No section needs more
// than 64 bytes of alignment.
Result<ObjectConstants> find_constants(const std::string& object);

struct MovedSection {
  std::size_t section = 0;
  std::string symbol;  // marks where its bytes are now
};
// The object without the bytes of these sections. REQUIRES: find_constants() listed them. The
// symbols are hidden: whoever links the object must also link the object that defines them.
Result<std::string> move_constants(const std::string& object,
                                   const std::vector<MovedSection>& moved);

// Constants of several objects, one after the other; equal ones are stored once. Each block has its
// own symbol, so that relocations against it keep their addends. One thread.

class SharedConstants {
 public:
  // Symbols are named PREFIX_0, PREFIX_1, ...
  explicit SharedConstants(std::string prefix) : prefix_(std::move(prefix)) {}

  // The symbol of a block with these bytes.
  std::string add(const std::string& bytes);

  const std::string& blob() const { return blob_; }
  const std::vector<DataSymbol>& symbols() const { return symbols_; }  // hidden

 private:
  std::string prefix_;
  std::string blob_;
  std::vector<DataSymbol> symbols_;
  std::map<std::string, std::size_t> known_;  // by SHA-256
};

}  // namespace tfaot::toolkit
