// SPDX-License-Identifier: Apache-2.0
// Records <-> JSON, by one table of members for each record. Keys are the members' names, enums are
// words; an enum that may be absent is then "". Every member must be present, unless its table says
// otherwise; unknown keys are ignored. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/json_reader.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

using nlohmann::ordered_json;

// A row of the table of a record's members. The record is passed as a void pointer, so that the
// loops over a table are compiled once for all records.
struct Member {
  const char* key;
  Status (*read)(const JsonReader& json, void* record);
  ordered_json (*write)(const void* record);
  bool is_new = false;  // may be missing in records that older versions wrote: the default then
  bool (*is_default)(const void* record) = nullptr;  // if given: missing if it is the default
};

// The member `kPlace`. `kReader`, of type Result<Value>(const JsonReader&), refuses more values
// than read_value<Value>.
template <auto kPlace, auto kReader = nullptr>
constexpr Member member(const char* key);
// May be missing in records that older versions wrote: it is then the default.
template <auto kPlace, auto kReader = nullptr>
constexpr Member new_member(const char* key);
// Missing if it is the default, or empty.
template <auto kPlace, auto kReader = nullptr>
constexpr Member member_unless_default(const char* key);

// Specialized for each record.
template <class Record>
inline constexpr std::array<Member, 0> kMembers = {};

// Specializes kMembers for a record of up to 60 members: TFAOT_MEMBERS(Record, first, second);
#define TFAOT_MEMBERS(Record, ...)                      \
  template <>                                           \
  inline constexpr auto kMembers<Record> = std::array { \
    TFAOT_PLAIN_MEMBERS(Record, __VA_ARGS__)            \
  }
// Some rows of such a table.
#define TFAOT_PLAIN_MEMBERS(Record, ...) TFAOT_SCAN(TFAOT_EACH_MEMBER(Record, __VA_ARGS__))
#define TFAOT_EACH_MEMBER(Record, name, ...) \
  member<&Record::name>(#name) __VA_OPT__(, TFAOT_NEXT TFAOT_PARENTHESES(Record, __VA_ARGS__))
#define TFAOT_NEXT() TFAOT_EACH_MEMBER
#define TFAOT_PARENTHESES ()
// Each scan expands one member more.
#define TFAOT_SCAN(...) TFAOT_SCAN_16(TFAOT_SCAN_16(TFAOT_SCAN_16(TFAOT_SCAN_16(__VA_ARGS__))))
#define TFAOT_SCAN_16(...) TFAOT_SCAN_4(TFAOT_SCAN_4(TFAOT_SCAN_4(TFAOT_SCAN_4(__VA_ARGS__))))
#define TFAOT_SCAN_4(...) TFAOT_SCAN_1(TFAOT_SCAN_1(TFAOT_SCAN_1(TFAOT_SCAN_1(__VA_ARGS__))))
#define TFAOT_SCAN_1(...) __VA_ARGS__

template <class Record>
concept HasMembers = !kMembers<Record>.empty();

// Keys are in the order of the table.
template <class Value>
ordered_json json_of(const Value& value);
template <class Value>
Result<Value> read_value(const JsonReader& json);

namespace detail {

// The element type of a list or optional; void for any other type.
template <class Value>
struct Held {
  using InList = void;
  using InOptional = void;
};
template <class Value>
struct Held<std::vector<Value>> {
  using InList = Value;
  using InOptional = void;
};
template <class Value>
struct Held<std::optional<Value>> {
  using InList = void;
  using InOptional = Value;
};
template <class Value>
using InList = typename Held<Value>::InList;
template <class Value>
using InOptional = typename Held<Value>::InOptional;

template <class Integer>
Result<Integer> read_integer(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t number, json.number());
  if (std::in_range<Integer>(number)) return static_cast<Integer>(number);
  return json.failed(std::to_string(number) + (number < 0 ? " is negative" : " is too large"));
}

Status read_members(const JsonReader& json, std::span<const Member> members, void* record);
ordered_json json_of_members(std::span<const Member> members, const void* record);

// The types of a pointer to member.
template <auto kPlace>
struct Place;
template <class Of, class Type, Type Of::*kPlace>
struct Place<kPlace> {
  using Record = Of;
  using Value = Type;
};

template <class Value, auto kReader>
Status read_into(const JsonReader& json, Value& value) {
  if constexpr (std::is_null_pointer_v<decltype(kReader)>) {
    TFAOT_ASSIGN(value, read_value<Value>(json));
  } else {
    TFAOT_ASSIGN(value, kReader(json));
  }
  return {};
}

// These two are compiled for each member, so they leave the work to functions for each type.
template <auto kPlace, auto kReader>
Status read_member(const JsonReader& json, void* record) {
  using Types = Place<kPlace>;
  return read_into<typename Types::Value, kReader>(
      json, static_cast<typename Types::Record*>(record)->*kPlace);
}
template <auto kPlace>
ordered_json json_of_member(const void* record) {
  return json_of(static_cast<const typename Place<kPlace>::Record*>(record)->*kPlace);
}

template <auto kPlace>
bool is_default(const void* record) {
  using Record = typename Place<kPlace>::Record;
  const auto& value = static_cast<const Record*>(record)->*kPlace;
  if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else {
    return value == Record().*kPlace;
  }
}

template <HasMembers Record>
Result<Record> read_record(const JsonReader& json) {
  Record record;
  TFAOT_TRY(read_members(json, kMembers<Record>, &record));
  return record;
}

}  // namespace detail

template <auto kPlace, auto kReader>
constexpr Member member(const char* key) {
  return {.key = key,
          .read = detail::read_member<kPlace, kReader>,
          .write = detail::json_of_member<kPlace>};
}
template <auto kPlace, auto kReader>
constexpr Member new_member(const char* key) {
  Member row = member<kPlace, kReader>(key);
  row.is_new = true;
  return row;
}
template <auto kPlace, auto kReader>
constexpr Member member_unless_default(const char* key) {
  Member row = member<kPlace, kReader>(key);
  row.is_default = detail::is_default<kPlace>;
  return row;
}

template <class Value>
ordered_json json_of(const Value& value) {
  if constexpr (HasWords<Value>) {
    return word_of(value);
  } else if constexpr (HasMembers<Value>) {
    return detail::json_of_members(kMembers<Value>, &value);
  } else if constexpr (HasWords<detail::InOptional<Value>>) {
    return value ? word_of(*value) : "";
  } else if constexpr (!std::is_void_v<detail::InOptional<Value>>) {
    return value ? json_of(*value) : ordered_json();
  } else if constexpr (!std::is_void_v<detail::InList<Value>>) {
    ordered_json json = ordered_json::array();
    for (const auto& item : value) json.push_back(json_of(item));
    return json;
  } else {
    return value;
  }
}

template <class Value>
Result<Value> read_value(const JsonReader& json) {
  if constexpr (HasWords<Value>) {
    return json.word<Value>();
  } else if constexpr (HasMembers<Value>) {
    return detail::read_record<Value>(json);
  } else if constexpr (HasWords<detail::InOptional<Value>>) {
    TFAOT_ASSIGN(const std::string text, json.text());
    if (text.empty()) return Value();
    return json.word<detail::InOptional<Value>>();
  } else if constexpr (!std::is_void_v<detail::InOptional<Value>>) {
    return read_value<detail::InOptional<Value>>(json);
  } else if constexpr (!std::is_void_v<detail::InList<Value>>) {
    return json.list(read_value<detail::InList<Value>>, std::numeric_limits<std::size_t>::max());
  } else if constexpr (std::is_same_v<Value, bool>) {
    return json.flag();
  } else if constexpr (std::is_integral_v<Value>) {
    return detail::read_integer<Value>(json);
  } else if constexpr (std::is_same_v<Value, double>) {
    return json.real();
  } else {
    static_assert(std::is_same_v<Value, std::string>, "a record needs kMembers, an enum kWords");
    return json.text();
  }
}

// The file that should hold one record.
struct DocumentPlace {
  std::string file;   // names it in errors
  std::string fault;  // "not a compilation record of this tfaot": the error, why is its note
};

// The place's fault, with `why` as its note.
Error explained(const Error& why, const DocumentPlace& place);

template <HasMembers Record>
Result<Record> read_document(const std::string& text, const DocumentPlace& place) {
  const auto json = parse_json(text, place.file);
  auto record = json ? read_value<Record>(JsonReader(*json, place.file)) : fail(json.error());
  if (!record) return fail(explained(record.error(), place));
  return record;
}

// One line, or indented by two spaces for each level. Keys are sorted; bytes that are not UTF-8
// become U+FFFD.
std::string json_line(const ordered_json& json);
std::string json_document(const ordered_json& json);

// A record in one line, below a key that tells it from other lines of a program.
template <HasMembers Record>
std::string tagged_line(const char* key, const Record& record) {
  return json_line({{key, json_of(record)}});
}
// Nothing if the line is another.
template <HasMembers Record>
std::optional<Record> from_tagged_line(const char* key, const std::string& line) {
  const auto json = parse_json(line, "");
  if (!json) return std::nullopt;
  auto record = JsonReader(*json, "").member(key).and_then(read_value<Record>);
  return record ? std::make_optional(*std::move(record)) : std::nullopt;
}

}  // namespace tfaot::toolkit
