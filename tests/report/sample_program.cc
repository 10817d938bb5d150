// SPDX-License-Identifier: Apache-2.0
// sample_program FOLDER: writes a page with every kind of block, and one with hostile texts.
#include <fstream>
#include <iostream>

#include "tests/unit/report/sample_page.h"

int main(int argc, char** argv) {
  using namespace tfaot::toolkit::report;  // NOLINT(google-build-using-namespace)
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  std::ofstream(folder + "/sample.html", std::ios::binary) << html_of(testing::sample_page());
  std::ofstream(folder + "/hostile.html", std::ios::binary) << html_of(testing::hostile_page());
  return 0;
}
