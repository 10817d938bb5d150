// SPDX-License-Identifier: Apache-2.0
// Records <-> JSON, by one table of members for each record. Keys are the members' names, enums are
// words; an enum that may be absent is then "". Every member must be present, unless its table says
// otherwise; unknown keys are ignored. Pure functions.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/json_reader.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// The table of a record's members.

enum class Presence {
  kAlways,
  kNew,            // may be missing in records that older versions wrote: it is then the default
  kUnlessDefault,  // missing if it is the default, or empty
};

template <class Record, class Value>
struct Member {
  using Reader = Result<Value> (*)(const JsonReader& json);

  constexpr Member(const char* name, Value Record::*member, Presence when = Presence::kAlways,
                   Reader read = nullptr)
      : key(name), place(member), presence(when), reader(read) {}
  constexpr Member(const char* name, Value Record::*member, Reader read)
      : Member(name, member, Presence::kAlways, read) {}

  const char* key;
  Value Record::*place;
  Presence presence;
  Reader reader;  // refuses more values than others of the type; null: read_value()
};

// Specialized for each record: a tuple of its Members.
template <class Record>
inline constexpr std::tuple<> kMembers = {};

// Specializes kMembers for a record of up to 60 members: TFAOT_MEMBERS(Record, first, second);
#define TFAOT_MEMBERS(Record, ...)                      \
  template <>                                           \
  inline constexpr auto kMembers<Record> = std::tuple { \
    TFAOT_PLAIN_MEMBERS(Record, __VA_ARGS__)            \
  }
// Some rows of such a table.
#define TFAOT_PLAIN_MEMBERS(Record, ...) TFAOT_SCAN(TFAOT_EACH_MEMBER(Record, __VA_ARGS__))
#define TFAOT_EACH_MEMBER(Record, name, ...) \
  Member{#name, &Record::name} __VA_OPT__(, TFAOT_NEXT TFAOT_PARENTHESES(Record, __VA_ARGS__))
#define TFAOT_NEXT() TFAOT_EACH_MEMBER
#define TFAOT_PARENTHESES ()
// Each scan expands one member more.
#define TFAOT_SCAN(...) TFAOT_SCAN_16(TFAOT_SCAN_16(TFAOT_SCAN_16(TFAOT_SCAN_16(__VA_ARGS__))))
#define TFAOT_SCAN_16(...) TFAOT_SCAN_4(TFAOT_SCAN_4(TFAOT_SCAN_4(TFAOT_SCAN_4(__VA_ARGS__))))
#define TFAOT_SCAN_4(...) TFAOT_SCAN_1(TFAOT_SCAN_1(TFAOT_SCAN_1(TFAOT_SCAN_1(__VA_ARGS__))))
#define TFAOT_SCAN_1(...) __VA_ARGS__

template <class Record>
concept HasMembers = std::tuple_size<std::remove_const_t<decltype(kMembers<Record>)>>::value != 0;

// Json is nlohmann::json, which sorts keys, or nlohmann::ordered_json, with the table's order.
template <class Json = nlohmann::json, class Value>
Json json_of(const Value& value);
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

template <class Record, class Value>
Status read_member(const JsonReader& json, const Member<Record, Value>& member, Record& record) {
  if (member.presence != Presence::kAlways && !json.has(member.key)) return {};
  const auto reader = member.reader == nullptr ? read_value<Value> : member.reader;
  TFAOT_ASSIGN(record.*member.place, json.member(member.key).and_then(reader));
  return {};
}

template <class Record, class Value>
bool is_default(const Record& record, const Member<Record, Value>& member) {
  const Value& value = record.*member.place;
  if constexpr (HasWords<Value> || std::is_arithmetic_v<Value>) {
    return value == Record().*member.place;
  } else if constexpr (!std::is_void_v<InOptional<Value>>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return false;
  }
}

template <HasMembers Record>
Result<Record> read_record(const JsonReader& json) {
  Record record;
  Status status;
  const auto read = [&](const auto& member) {
    status = read_member(json, member, record);
    return status.has_value();
  };
  std::apply([&](const auto&... member) { (read(member) && ...); }, kMembers<Record>);
  TFAOT_TRY(std::move(status));
  return record;
}

}  // namespace detail

template <class Json, class Value>
Json json_of(const Value& value) {
  if constexpr (HasWords<Value>) {
    return word_of(value);
  } else if constexpr (HasMembers<Value>) {
    Json json = Json::object();
    const auto add = [&](const auto& member) {
      if (member.presence == Presence::kUnlessDefault && detail::is_default(value, member)) return;
      json[member.key] = json_of<Json>(value.*member.place);
    };
    std::apply([&](const auto&... member) { (add(member), ...); }, kMembers<Value>);
    return json;
  } else if constexpr (HasWords<detail::InOptional<Value>>) {
    return value ? word_of(*value) : "";
  } else if constexpr (!std::is_void_v<detail::InOptional<Value>>) {
    return value ? json_of<Json>(*value) : Json();
  } else if constexpr (!std::is_void_v<detail::InList<Value>>) {
    Json json = Json::array();
    for (const auto& item : value) json.push_back(json_of<Json>(item));
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
std::string json_line(const nlohmann::json& json);
std::string json_document(const nlohmann::json& json);

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
