// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/call_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <regex>
#include <span>
#include <utility>

#include "compiler/kernels/kernel_call.h"
#include "compiler/kernels/kernel_facts.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

struct Member {
  std::string type, name;
  std::size_t count;  // of an array
};

struct Abi {
  std::map<std::string, std::vector<Member>> structs;
  std::map<std::string, double, std::less<>> numbers;  // enumerators and constants
};

Abi read_abi() {
  static const std::regex kComment("//[^\n]*"), kNumber(R"((k\w+)\s*=\s*(-?\d+))"),
      kEnum(R"(enum \w+ : [\w:]+ \{([^}]*)\})"), kEnumerator(R"((k\w+)(?: = (\d+))?)"),
      kStruct(R"(struct (\w+) \{([^}]*)\};)"), kMembers(R"(\s*([\w:]+)\s+([^;]*);)"),
      kMember(R"((\w+)(?:\[(\w+)\])?(?: = \w+)?)");
  const RealFileSystem files;
  const std::string text =
      std::regex_replace(files.read(TFAOT_KERNELS_ABI).value(), kComment, std::string());
  const auto each = [](const std::string& in, const std::regex& what, const auto& use) {
    for (std::sregex_iterator at(in.begin(), in.end(), what), end; at != end; ++at) use(*at);
  };
  Abi abi;
  each(text, kNumber, [&](const auto& found) { abi.numbers[found[1]] = std::stod(found[2]); });
  each(text, kEnum, [&](const auto& found) {
    double next = 0;
    each(found[1], kEnumerator, [&](const auto& one) {
      if (one[2].matched) next = std::stod(one[2]);
      abi.numbers[one[1]] = next++;
    });
  });
  each(text, kStruct, [&](const auto& found) {
    auto& members = abi.structs[found[1]];
    each(found[2], kMembers, [&](const auto& line) {
      each(line[2], kMember, [&](const auto& one) {
        const std::string size = one[2];
        const double count = size.empty()             ? 1
                             : is_digit(size.front()) ? std::stod(size)
                                                      : abi.numbers[size];
        members.push_back({line[1], one[1], static_cast<std::size_t>(count)});
      });
    });
  });
  return abi;
}

const Abi& abi() {
  static const Abi made = read_abi();
  return made;
}

// Takes the struct's words from the front of `words`; a call of an older version may end early.
void add_fields(const std::string& name, const std::string& prefix,
                std::span<const std::int64_t>& words, std::vector<CallField>& fields) {
  for (const Member& member : abi().structs.at(name)) {
    if (abi().structs.contains(member.type)) {
      add_fields(member.type, prefix + member.name + ".", words, fields);
      continue;
    }
    CallField field{prefix + member.name, {}};
    for (const std::int64_t word : words.first(std::min(member.count, words.size()))) {
      field.values.push_back(member.type == "double" ? std::bit_cast<double>(word)
                                                     : static_cast<double>(word));
    }
    words = words.subspan(field.values.size());
    fields.push_back(std::move(field));
  }
}

std::string struct_of(engine::Kernel kernel) {
  switch (kernel) {
#define TFAOT_KERNEL_ROW(id, name, types, call, shared, scratch) \
  case engine::Kernel::id:                                       \
    return #call;
#include "tfaot/kernels/kernels.def"
  }
  return "";
}

std::optional<engine::Kernel> kernel_named(std::string_view wanted) {
#define TFAOT_KERNEL_ROW(id, name, types, call, shared, scratch) \
  if (wanted == #name) return engine::Kernel::id;
#include "tfaot/kernels/kernels.def"
  return std::nullopt;
}

// The structs that follow the struct of a call.
struct Parts {
  std::string_view call, name;
  const char* type;
};
constexpr Parts kParts[] = {{"AddRowsCall", "part", "GatherPart"},
                            {"DenseChainCall", "layer", "DenseLayer"},
                            {"ForestCall", "block", "ForestBlock"},
                            {"GatherCall", "part", "GatherPart"}};

}  // namespace

std::vector<CallField> call_fields(const engine::HloInstruction& kernel) {
  const std::string name = struct_of(*engine::called_kernel(kernel));
  const std::vector<std::int64_t> all = engine::call_words(kernel);
  std::span<const std::int64_t> words = all;
  std::vector<CallField> fields;
  add_fields(name, "", words, fields);
  for (const Parts& parts : kParts) {
    if (parts.call != name) continue;
    for (int i = 0; !words.empty(); ++i) {
      add_fields(parts.type, fmt::format("{}.{}.", parts.name, i), words, fields);
    }
  }
  const auto word = engine::word_of_epilogue(kernel);
  if (word && (all.at(*word) & kernels::kEpilogueFunction) != 0) {
    const auto function = engine::result_function(kernel);
    fields.push_back({"function.kind", {static_cast<double>(function.kind)}});
    fields.push_back({"function.above", {function.above}});
    fields.push_back({"function.below", {function.below}});
  }
  return fields;
}

bool is_kernel(std::string_view kernel) { return kernel_named(kernel).has_value(); }

bool is_call_field(std::string_view kernel, std::string_view field) {
  if (field.starts_with("function.")) {
    return field == "function.kind" || field == "function.above" || field == "function.below";
  }
  std::string call = struct_of(*kernel_named(kernel));
  for (const Parts& parts : kParts) {
    const std::size_t dot = field.find('.', parts.name.size() + 1);
    if (parts.call != call || dot == std::string_view::npos ||
        !field.starts_with(std::string(parts.name) + ".")) {
      continue;
    }
    call = parts.type;
    field.remove_prefix(dot + 1);
    break;
  }
  std::span<const std::int64_t> none;
  std::vector<CallField> fields;
  add_fields(call, "", none, fields);
  return std::ranges::count(fields, field, &CallField::name) > 0;
}

std::optional<double> call_number(std::string_view text) {
  double sum = 0;
  for (const std::string& word : split_words(text, "+")) {
    const auto named = abi().numbers.find(word);
    const auto number =
        named != abi().numbers.end() ? std::optional(named->second) : parse_number<double>(word);
    if (!number) return std::nullopt;
    sum += *number;
  }
  return sum;
}

std::size_t words_of_struct(const std::string& name) {
  std::size_t words = 0;
  for (const Member& member : abi().structs.at(name)) {
    const bool is_struct = abi().structs.contains(member.type);
    if (!is_struct && member.type != "std::int64_t" && member.type != "double") return 0;
    words += member.count * (is_struct ? words_of_struct(member.type) : 1);
  }
  return words;
}

}  // namespace tfaot::toolkit::testing
