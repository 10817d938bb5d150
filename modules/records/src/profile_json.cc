// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/profile_json.h"

#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

template <>
inline constexpr auto kMembers<Band> = std::tuple{
    Member{"median", &Band::median}, Member{"low", &Band::low}, Member{"high", &Band::high}};
template <>
inline constexpr auto kMembers<ProfiledSize> =
    std::tuple{Member{"rows", &ProfiledSize::rows},
               Member{"run_as", &ProfiledSize::run_as},
               Member{"call", &ProfiledSize::call},
               Member{"busy", &ProfiledSize::busy},
               Member{"calls", &ProfiledSize::calls},
               Member{"rounds", &ProfiledSize::rounds},
               Member{"difference", &ProfiledSize::difference},
               Member{"largest", &ProfiledSize::largest},
               Member{"allocations", &ProfiledSize::allocations},
               Member{"allocated", &ProfiledSize::allocated},
               Member{"resident", &ProfiledSize::resident},
               Member{"proportional", &ProfiledSize::proportional}};
template <>
inline constexpr auto kMembers<ProfiledOperation> = std::tuple{
    Member{"name", &ProfiledOperation::name}, Member{"category", &ProfiledOperation::category},
    Member{"inside", &ProfiledOperation::inside}, Member{"share", &ProfiledOperation::share},
    Member{"origin", &ProfiledOperation::origin, Presence::kNew}};
template <>
inline constexpr auto kMembers<ProfiledOperations> =
    std::tuple{Member{"model", &ProfiledOperations::model},
               Member{"version", &ProfiledOperations::version},
               Member{"rows", &ProfiledOperations::rows},
               Member{"cpu_level", &ProfiledOperations::cpu_level},
               Member{"call", &ProfiledOperations::call},
               Member{"instrumented", &ProfiledOperations::instrumented},
               Member{"operations", &ProfiledOperations::operations}};
template <>
inline constexpr auto kMembers<BetterPlan> =
    std::tuple{Member{"rows", &BetterPlan::rows}, Member{"run_as", &BetterPlan::run_as},
               Member{"call", &BetterPlan::call}, Member{"better_as", &BetterPlan::better_as},
               Member{"better", &BetterPlan::better}};
template <>
inline constexpr auto kMembers<HeapMoment> =
    std::tuple{Member{"ms", &HeapMoment::ms}, Member{"bytes", &HeapMoment::bytes}};
template <>
inline constexpr auto kMembers<ProfiledHeap> =
    std::tuple{Member{"peak", &ProfiledHeap::peak}, Member{"cpu_level", &ProfiledHeap::cpu_level},
               Member{"over_time", &ProfiledHeap::over_time}};
template <>
inline constexpr auto kMembers<ProfiledCurve> =
    std::tuple{Member{"model", &ProfiledCurve::model},
               Member{"version", &ProfiledCurve::version},
               Member{"engine", &ProfiledCurve::engine},
               Member{"source", &ProfiledCurve::source},
               Member{"cpu_level", &ProfiledCurve::cpu_level},
               Member{"strategy", &ProfiledCurve::strategy},
               Member{"load", &ProfiledCurve::load},
               Member{"resident", &ProfiledCurve::resident},
               Member{"proportional", &ProfiledCurve::proportional},
               Member{"tuned", &ProfiledCurve::tuned},
               Member{"temporaries", &ProfiledCurve::temporaries},
               Member{"heap", &ProfiledCurve::heap},
               Member{"sizes", &ProfiledCurve::sizes},
               Member{"better_plans", &ProfiledCurve::better_plans}};
template <>
inline constexpr auto kMembers<ProfiledMachine> = std::tuple{
    Member{"name", &ProfiledMachine::name},         Member{"cpu", &ProfiledMachine::cpu},
    Member{"cores", &ProfiledMachine::cores},       Member{"core", &ProfiledMachine::core},
    Member{"governor", &ProfiledMachine::governor}, Member{"mhz", &ProfiledMachine::mhz},
    Member{"load", &ProfiledMachine::load},         Member{"noise", &ProfiledMachine::noise},
    Member{"warnings", &ProfiledMachine::warnings}};
template <>
inline constexpr auto kMembers<Profile> =
    std::tuple{Member{"toolkit_version", &Profile::toolkit_version},
               Member{"machine", &Profile::machine},
               Member{"inputs", &Profile::inputs},
               Member{"clock", &Profile::clock},
               Member{"round_count", &Profile::round_count},
               Member{"round_ms", &Profile::round_ms},
               Member{"empty_resident", &Profile::empty_resident},
               Member{"empty_proportional", &Profile::empty_proportional},
               Member{"heap_tool", &Profile::heap_tool},
               Member{"empty_heap", &Profile::empty_heap},
               Member{"curves", &Profile::curves},
               Member{"operations", &Profile::operations}};

nlohmann::ordered_json profile_to_json(const Profile& profile) {
  return json_of<nlohmann::ordered_json>(profile);
}

Result<Profile> profile_from_json(const std::string& text, const std::string& where) {
  return read_document<Profile>(text, {where, "not a profile of this tfaot"});
}

}  // namespace tfaot::toolkit
