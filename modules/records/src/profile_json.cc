// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/profile_json.h"

#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(Band, median, low, high);
TFAOT_MEMBERS(ProfiledSize, rows, run_as, call, busy, calls, rounds, difference, largest,
              allocations, allocated, resident, proportional);
template <>
inline constexpr auto kMembers<ProfiledOperation> =
    std::array{TFAOT_PLAIN_MEMBERS(ProfiledOperation, name, category, inside, share),
               new_member<&ProfiledOperation::origin>("origin")};
TFAOT_MEMBERS(ProfiledOperations, model, version, rows, cpu_level, call, instrumented, operations);
TFAOT_MEMBERS(BetterPlan, rows, run_as, call, better_as, better);
TFAOT_MEMBERS(HeapMoment, ms, bytes);
TFAOT_MEMBERS(ProfiledHeap, peak, cpu_level, over_time);
template <>
inline constexpr auto kMembers<ProfiledCurve> = std::array{
    TFAOT_PLAIN_MEMBERS(ProfiledCurve, model, version, engine, source, cpu_level, strategy, load,
                        resident, proportional, tuned, temporaries, heap, sizes, better_plans),
    member_unless_default<&ProfiledCurve::dimensions>("dimensions")};
template <>
inline constexpr auto kMembers<ProfiledMachine> =
    std::array{TFAOT_PLAIN_MEMBERS(ProfiledMachine, name, cpu, cores, core, governor, mhz, load,
                                   noise, warnings),
               member_unless_default<&ProfiledMachine::instructions>("instructions")};
TFAOT_MEMBERS(Profile, toolkit_version, machine, inputs, clock, round_count, round_ms,
              empty_resident, empty_proportional, heap_tool, empty_heap, curves, operations);

nlohmann::ordered_json profile_to_json(const Profile& profile) { return json_of(profile); }

std::string profile_to_text(const Profile& profile, int indent) {
  return json_to_text(profile_to_json(profile), indent);
}

Result<Profile> profile_from_json(const std::string& text, const std::string& where) {
  return read_document<Profile>(text, {where, "not a profile of this tfaot"});
}

}  // namespace tfaot::toolkit
