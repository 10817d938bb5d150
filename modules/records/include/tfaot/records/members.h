// SPDX-License-Identifier: Apache-2.0
// The table of a record's members, which record_json.h uses to read and write.
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tfaot::toolkit {

enum class Presence {
  kAlways,
  kNew,  // may be missing in records that older versions wrote: it is then the default
};

template <class Record, class Value>
struct Member {
  const char* key;
  Value Record::*place;
  Presence presence = Presence::kAlways;
};
template <class Record, class Value>
Member(const char*, Value Record::*, Presence = Presence::kAlways) -> Member<Record, Value>;

// Specialized for each record: a tuple of its Members.
template <class Record>
inline constexpr std::tuple<> kMembers = {};

// Specializes kMembers for a record of up to 60 members: TFAOT_MEMBERS(Record, first, second);
#define TFAOT_MEMBERS(Record, ...)                      \
  template <>                                           \
  inline constexpr auto kMembers<Record> = std::tuple { \
    TFAOT_SCAN(TFAOT_EACH_MEMBER(Record, __VA_ARGS__))  \
  }
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

}  // namespace detail

}  // namespace tfaot::toolkit
