// SPDX-License-Identifier: Apache-2.0
// Compares what an example printed with TensorFlow's own predictions:
//   tfaot_check_predictions OUTPUT LABEL REFERENCE BATCH_SIZE
// The text file OUTPUT holds a line "LABEL <output>: <numbers>" for each output in the case
// BATCH_SIZE of REFERENCE (reference.json). Equal means: max |difference| <= 1e-5 * max(1, max
// |expected|). Ends with 0, or with 1 and the reason.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Numbers = std::vector<double>;

Numbers numbers_of(const nlohmann::json& values) {
  Numbers numbers;
  for (const auto& value : values) {
    numbers.push_back(value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>());
  }
  return numbers;
}

std::optional<Numbers> printed(const std::string& file, const std::string& head) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(head, 0) != 0) continue;
    std::istringstream text(line.substr(head.size()));
    Numbers numbers;
    for (double number = 0; text >> number;) numbers.push_back(number);
    return numbers;
  }
  return std::nullopt;
}

// Empty when equal.
std::string difference(const Numbers& actual, const Numbers& expected) {
  if (actual.size() != expected.size()) {
    return std::to_string(actual.size()) + " numbers, not " + std::to_string(expected.size());
  }
  double scale = 1;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    const double distance = std::abs(actual[i] - expected[i]);
    if (!(distance <= worst)) worst = distance;  // NaN stays
  }
  return worst <= 1e-5 * scale ? "" : "differs by " + std::to_string(worst);
}

bool check(const std::string& output, const std::string& label, const nlohmann::json& predictions) {
  bool equal = true;
  for (const auto& [name, values] : predictions.items()) {
    const std::string head = label + " " + name + ":";
    const auto actual = printed(output, head);
    const std::string problem =
        actual ? difference(*actual, numbers_of(values)) : "was not printed";
    if (problem.empty()) continue;
    std::cerr << head << ' ' << problem << '\n';
    equal = false;
  }
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto reference = nlohmann::json::parse(std::ifstream(argv[3]), nullptr, false);
  if (reference.is_discarded()) {
    std::cerr << argv[3] << ": not readable\n";
    return 1;
  }
  for (const auto& entry : reference["cases"]) {
    if (entry["batch_size"] == std::atoi(argv[4])) {
      return check(argv[1], argv[2], entry["outputs"]) ? 0 : 1;
    }
  }
  std::cerr << argv[3] << ": has no case of batch size " << argv[4] << '\n';
  return 1;
}
