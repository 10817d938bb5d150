// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

Error explained(const Error& why, const DocumentPlace& place) {
  Error error = Error::at({place.file}, place.fault).note(why.message());
  for (const std::string& note : why.notes()) error.note(note);
  return error;
}

std::string json_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string json_document(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tfaot::toolkit
