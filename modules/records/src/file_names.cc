// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kWeightsSuffix = "_weights.o";

}  // namespace

std::string program_name(const std::string& model_name, std::int64_t batch_size) {
  return model_name + "_bs" + std::to_string(batch_size);
}

std::string object_file_name(const std::string& program, const std::string& cpu_level) {
  return lowest_object_file_name(program + "_" + cpu_level);
}

std::string lowest_object_file_name(const std::string& program) {
  return program + std::string(kObjectSuffix);
}

std::string weights_file_name(const std::string& model_name) {
  return model_name + std::string(kWeightsSuffix);
}

std::string models_library_name(const std::string& model_name) {
  return "lib/" + model_name + ".so";
}

std::string library_hash_name(const std::string& model_name) {
  return models_library_name(model_name) + ".sha256";
}

bool is_object_file(std::string_view path) { return path.ends_with(kObjectSuffix); }

bool is_weights_file(std::string_view path) { return path.ends_with(kWeightsSuffix); }

}  // namespace tfaot::toolkit
