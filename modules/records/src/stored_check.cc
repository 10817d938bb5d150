// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/stored_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "manifest_rules.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {
namespace {

Result<double> read_scale(const JsonReader& json) {
  TFAOT_ASSIGN(const double scale, json.real());
  if (scale >= 0) return scale;
  return json.failed("it is negative");
}

Result<std::string> read_digits(const JsonReader& json) {
  TFAOT_ASSIGN(std::string digits, json.text());
  if (digits.find_first_not_of("0123456789abcdef") == std::string::npos) return digits;
  return json.failed("expected lower-case hexadecimal digits");
}

}  // namespace

template <>
inline constexpr auto kMembers<StoredOutput> =
    std::array{member<&StoredOutput::scale, read_scale>("scale"),
               member<&StoredOutput::numbers, read_digits>("numbers")};
template <>
inline constexpr auto kMembers<StoredBits> =
    std::array{member<&StoredBits::cpu_level>("cpu_level"),
               member<&StoredBits::sha256, read_sha256>("sha256")};
TFAOT_MEMBERS(StoredCall, rows, outputs, bits);
template <>
inline constexpr auto kMembers<StoredCheck> =
    std::array{member<&StoredCheck::schema_version, read_schema_version>("schema_version"),
               member<&StoredCheck::inputs>("inputs"),
               member<&StoredCheck::seed>("seed"),
               member<&StoredCheck::inputs_sha256, read_sha256>("inputs_sha256"),
               member<&StoredCheck::machine>("machine"),
               member<&StoredCheck::cpu_level>("cpu_level"),
               member<&StoredCheck::calls>("calls")};

namespace {

bool fits(const StoredOutput& output, const TensorSpec& tensor, std::int64_t rows) {
  const std::size_t digits = 2 * size_of(tensor.dtype);
  const std::uint64_t elements = static_cast<std::uint64_t>(rows) * row_elements(tensor);
  const std::size_t kept = output.numbers.size() / digits;  // some, or nothing would be compared
  return output.numbers.size() % digits == 0 && kept <= elements && (kept > 0) == (elements > 0);
}

bool fits(const StoredCall& call, const Manifest& manifest) {
  const std::vector<TensorSpec>& tensors = manifest.signature.outputs;
  if (!contains(manifest.batch_sizes, call.rows) || call.outputs.size() != tensors.size()) {
    return false;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!fits(call.outputs[i], tensors[i], call.rows)) return false;
  }
  return std::ranges::all_of(call.bits, [&](const StoredBits& bits) {
    return contains(manifest.cpu_levels, bits.cpu_level);
  });
}

}  // namespace

std::vector<std::size_t> stored_places(std::size_t elements, std::size_t kept) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kept; ++i) places.push_back(i * elements / kept);
  return places;
}

std::string stored_check_to_json(const StoredCheck& check) { return json_document(json_of(check)); }

Result<StoredCheck> stored_check_from_json(const Manifest& manifest, const std::string& text,
                                           const std::string& where) {
  const DocumentPlace place{where, "not a check of this package"};
  TFAOT_ASSIGN(StoredCheck check, read_document<StoredCheck>(text, place));
  const bool is_of_it = std::ranges::all_of(
      check.calls, [&](const StoredCall& call) { return fits(call, manifest); });
  if (is_of_it && !check.calls.empty() && check.inputs != InputKind::kFile) return check;
  return fail(explained(Error("its calls do not fit the manifest"), place));
}

}  // namespace tfaot::toolkit
