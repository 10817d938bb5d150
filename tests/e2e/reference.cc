// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "tfaot/runtime/half.h"

namespace tfaot::toolkit::testing {

std::vector<ReferenceCase> read_reference(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<ReferenceCase> cases;
  const auto reference = nlohmann::json::parse(in);
  for (const auto& json : reference.at("cases")) {
    cases.push_back({json.at("batch_size").get<std::size_t>(),
                     json.at("inputs").get<std::map<std::string, nlohmann::json>>(),
                     json.at("outputs").get<std::map<std::string, nlohmann::json>>()});
  }
  return cases;
}

namespace {
double number(const nlohmann::json& value) {
  return value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
}
}  // namespace

template <class T>
::testing::AssertionResult is_close(const std::vector<T>& actual, const nlohmann::json& expected) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << actual.size() << " values, TensorFlow has " << expected.size();
  }
  double scale = 1;
  for (const auto& value : expected) scale = std::max(scale, std::abs(number(value)));
  using Limits = std::numeric_limits<T>;
  const double last_digit = sizeof(T) == 2 ? static_cast<double>(Limits::epsilon()) : 0;
  const double allowed = Limits::is_integer ? 0 : std::max(kTolerance, last_digit) * scale;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double wanted = number(expected[i]);
    const double got = static_cast<double>(actual[i]);
    if (!(std::abs(got - wanted) <= allowed)) {
      return ::testing::AssertionFailure() << "value " << i << " is " << got << ", TensorFlow's is "
                                           << wanted << " (allowed difference " << allowed << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

template ::testing::AssertionResult is_close(const std::vector<std::int8_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::int16_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::int32_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::int64_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::uint8_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::uint16_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::uint32_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<std::uint64_t>&,
                                             const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<float16>&, const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<bfloat16>&, const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<float>&, const nlohmann::json&);
template ::testing::AssertionResult is_close(const std::vector<double>&, const nlohmann::json&);

}  // namespace tfaot::toolkit::testing
