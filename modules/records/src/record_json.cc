// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

Status detail::read_members(const JsonReader& json, std::span<const Member> members, void* record) {
  for (const Member& member : members) {
    if ((member.is_new || member.is_default != nullptr) && !json.has(member.key)) continue;
    TFAOT_ASSIGN(const JsonReader found, json.member(member.key));
    TFAOT_TRY(member.read(found, record));
  }
  return {};
}

ordered_json detail::json_of_members(std::span<const Member> members, const void* record) {
  ordered_json json = ordered_json::object();
  for (const Member& member : members) {
    if (member.is_default != nullptr && member.is_default(record)) continue;
    json[member.key] = member.write(record);
  }
  return json;
}

Error explained(const Error& why, const DocumentPlace& place) {
  Error error = Error::at({place.file}, place.fault).note(why.message());
  for (const std::string& note : why.notes()) error.note(note);
  return error;
}

std::string json_line(const ordered_json& json) {
  return nlohmann::json(json).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string json_document(const ordered_json& json) {
  return nlohmann::json(json).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tfaot::toolkit
