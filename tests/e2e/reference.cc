// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tfaot/runtime/half.h"

namespace tfaot::toolkit::testing {

namespace {

long double number(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  return value.get<double>();
}

std::map<std::string, Numbers> tensors_of(const nlohmann::json& json) {
  std::map<std::string, Numbers> tensors;
  for (const auto& [name, values] : json.items()) {
    Numbers& numbers = tensors[name];
    for (const auto& value : values) numbers.push_back(number(value));
  }
  return tensors;
}

}  // namespace

std::vector<ReferenceCase> read_reference(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<ReferenceCase> cases;
  const auto reference = nlohmann::json::parse(in);
  for (const auto& json : reference.at("cases")) {
    cases.push_back({json.at("batch_size").get<std::size_t>(), tensors_of(json.at("inputs")),
                     tensors_of(json.at("outputs")), reference.value("tolerance", kTolerance)});
  }
  return cases;
}

template <class T>
::testing::AssertionResult is_close(const std::vector<T>& actual, const Numbers& expected,
                                    double tolerance) {
  if (actual.size() != expected.size()) {
    return ::testing::AssertionFailure()
           << actual.size() << " values, TensorFlow has " << expected.size();
  }
  double scale = 1;
  for (const long double value : expected) {
    scale = std::max(scale, static_cast<double>(std::abs(value)));
  }
  using Limits = std::numeric_limits<T>;
  const double last_digit = sizeof(T) == 2 ? static_cast<double>(Limits::epsilon()) : 0;
  const double allowed = Limits::is_integer ? 0 : std::max(tolerance, last_digit) * scale;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto wanted = static_cast<double>(expected[i]);
    const double got = static_cast<double>(actual[i]);
    if (!(std::abs(got - wanted) <= allowed)) {
      return ::testing::AssertionFailure() << "value " << i << " is " << got << ", TensorFlow's is "
                                           << wanted << " (allowed difference " << allowed << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

template ::testing::AssertionResult is_close(const std::vector<std::int8_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::int16_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::int32_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::int64_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::uint8_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::uint16_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::uint32_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<std::uint64_t>&, const Numbers&,
                                             double);
template ::testing::AssertionResult is_close(const std::vector<float16>&, const Numbers&, double);
template ::testing::AssertionResult is_close(const std::vector<bfloat16>&, const Numbers&, double);
template ::testing::AssertionResult is_close(const std::vector<float>&, const Numbers&, double);
template ::testing::AssertionResult is_close(const std::vector<double>&, const Numbers&, double);

}  // namespace tfaot::toolkit::testing
