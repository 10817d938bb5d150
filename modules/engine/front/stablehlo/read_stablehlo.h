// SPDX-License-Identifier: Apache-2.0
// A file with StableHLO, read: MLIR as text, a portable artifact, or a file that jax.export wrote
// (Exported.serialize()), a FlatBuffer around a portable artifact. XLA parses it; nothing in it is
// run.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/stablehlo/mlir_text.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// A table of a FlatBuffer. Fields are numbered in the order of the schema.
class FlatTable {
 public:
  static std::optional<FlatTable> root(std::string_view bytes) { return table_behind(bytes, 0); }

  // Nothing if the field is not set, or wrong.
  std::optional<std::string_view> text(int field) const {
    const auto list = vector(field);
    if (!list) return std::nullopt;
    return bytes_of(*list, 1);
  }
  // A vector of numbers of this size in bytes, or of tables and texts.
  std::optional<std::vector<std::uint32_t>> numbers(int field, std::size_t size) const {
    const auto list = vector(field);
    if (!list || !bytes_of(*list, size)) return std::nullopt;
    std::vector<std::uint32_t> values(list->count);
    for (std::size_t i = 0; i < list->count; ++i) read(list->start + i * size, size, &values[i]);
    return values;
  }
  std::optional<std::vector<FlatTable>> tables(int field) const {
    const auto list = vector(field);
    if (!list || !bytes_of(*list, kOffset)) return std::nullopt;
    std::vector<FlatTable> found;
    for (std::size_t i = 0; i < list->count; ++i) {
      const auto table = table_behind(bytes_, list->start + i * kOffset);
      if (!table) return std::nullopt;
      found.push_back(*table);
    }
    return found;
  }
  std::optional<std::vector<std::string_view>> texts(int field) const {
    const auto list = vector(field);
    if (!list || !bytes_of(*list, kOffset)) return std::nullopt;
    std::vector<std::string_view> found;
    for (std::size_t i = 0; i < list->count; ++i) {
      const auto one = vector_behind(list->start + i * kOffset);
      const auto text = one ? bytes_of(*one, 1) : std::nullopt;
      if (!text) return std::nullopt;
      found.push_back(*text);
    }
    return found;
  }

 private:
  static constexpr std::size_t kOffset = sizeof(std::uint32_t);
  struct Vector {
    std::size_t start = 0;
    std::size_t count = 0;
  };

  FlatTable(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  template <class Number>
  static bool read(std::string_view bytes, std::size_t at, std::size_t size, Number* value) {
    if (at > bytes.size() || bytes.size() - at < size) return false;
    std::memcpy(value, bytes.data() + at, size);
    return true;
  }
  template <class Number>
  bool read(std::size_t at, std::size_t size, Number* value) const {
    return read(bytes_, at, size, value);
  }
  static std::optional<FlatTable> table_behind(std::string_view bytes, std::size_t at) {
    std::uint32_t offset = 0;
    if (!read(bytes, at, kOffset, &offset) || offset == 0) return std::nullopt;
    return FlatTable(bytes, at + offset);
  }
  // The table starts with how far before it the list of its fields is.
  std::optional<std::size_t> place_of(int field) const {
    std::int32_t back = 0;
    if (!read(at_, sizeof back, &back)) return std::nullopt;
    const auto fields = static_cast<std::size_t>(static_cast<std::int64_t>(at_) - back);
    const std::size_t entry = 4 + 2 * static_cast<std::size_t>(field);
    std::uint16_t size = 0;
    std::uint16_t offset = 0;
    if (!read(fields, sizeof size, &size) || entry + 2 > size) return std::nullopt;
    if (!read(fields + entry, sizeof offset, &offset) || offset == 0) return std::nullopt;
    return at_ + offset;
  }
  std::optional<Vector> vector(int field) const {
    const auto place = place_of(field);
    return place ? vector_behind(*place) : std::nullopt;
  }
  std::optional<Vector> vector_behind(std::size_t at) const {
    std::uint32_t offset = 0;
    std::uint32_t count = 0;
    if (!read(at, kOffset, &offset) || !read(at + offset, kOffset, &count)) return std::nullopt;
    return Vector{at + offset + kOffset, count};
  }
  std::optional<std::string_view> bytes_of(const Vector& list, std::size_t size) const {
    if (list.start > bytes_.size() || (bytes_.size() - list.start) / size < list.count) {
      return std::nullopt;
    }
    return bytes_.substr(list.start, list.count * size);
  }

  std::string_view bytes_;
  std::size_t at_;
};

struct JaxExport {
  // Counts the bytes that were read; many may be the same ones.
  std::string_view module;
  std::vector<std::string_view> platforms;            // "cpu"
  std::vector<std::vector<std::string_view>> shapes;  // of the module's arguments: "b", "16", "2*n"
};

// Nothing if the bytes are not such a file, or have more arguments, sizes or platforms than any.
std::optional<JaxExport> read_jax_export(std::string_view bytes);

struct StableHloModule {
  std::string producer;                 // "StableHLO 1.7.0"; empty: the file does not say
  std::string whole;                    // the text that XLA made of it
  std::string text;                     // the same with calls instead of constants
  std::vector<ConstantText> constants;  // places in `whole`
  FunctionText main;                    // without what JAX passes itself
  std::vector<std::string> platforms;   // of a module with code for several
};

// Errors: the file cannot be read, is none of the three, or newer than what XLA reads.
Result<StableHloModule> read_stablehlo(const std::string& file);

// Values of the module's constants, in order. The first call reads all that are not in binary form.
class ConstantValues {
 public:
  // The module must outlive the values.
  explicit ConstantValues(const StableHloModule& module) : module_(module) {}
  Result<Value> value(std::size_t constant) const;

 private:
  Status read_small() const;

  const StableHloModule& module_;
  mutable std::map<std::size_t, Value> small_;
};

// XLA's type; PRIMITIVE_TYPE_INVALID for those that inputs cannot have.
xla::PrimitiveType type_of_text(std::string_view element);

}  // namespace tfaot::toolkit::engine
