// SPDX-License-Identifier: Apache-2.0
#include "text/terminal.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

constexpr const char* kHelp =
    "Compile a trained model into a package tree\n"
    "Usage: tfaot compile [OPTIONS]\n"
    "\n"
    "Options:\n"
    "  -h,--help                           Print this help message and exit\n"
    "  -o,--output-directory DIR (required)\n"
    "                                      where the package tree goes; made when missing,\n"
    "                                      other files in it stay\n"
    "\n"
    "A failed compilation leaves DIR as it was, and whatever else\n"
    "lies there. Twice.\n"
    "Examples:\n"
    "  tfaot compile -c aot_config.yaml -o build/tagger --batch-sizes 1,2,4\n";

TEST(FittedHelp, IsTheTextWhereItFits) { EXPECT_EQ(fitted_help(kHelp, 100), kHelp); }

TEST(FittedHelp, BreaksLinesBelowTheirText) {
  EXPECT_EQ(fitted_help(kHelp, 60),
            "Compile a trained model into a package tree\n"
            "Usage: tfaot compile [OPTIONS]\n"
            "\n"
            "Options:\n"
            "  -h,--help                           Print this help\n"
            "                                      message and exit\n"
            "  -o,--output-directory DIR (required)\n"
            "                                      where the package tree\n"
            "                                      goes; made when\n"
            "                                      missing, other files\n"
            "                                      in it stay\n"
            "\n"
            "A failed compilation leaves DIR as it was, and whatever else\n"
            "lies there. Twice.\n"
            "Examples:\n"
            "  tfaot compile -c aot_config.yaml -o build/tagger \\\n"
            "      --batch-sizes 1,2,4\n");
}

TEST(FittedHelp, NoLineIsWiderThanTheTerminal) {
  for (const std::size_t columns : {40U, 50U, 72U, 80U, 99U}) {
    std::size_t start = 0;
    const std::string text = fitted_help(kHelp, columns);
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         start = end + 1, end = text.find('\n', start)) {
      EXPECT_LE(end - start, columns) << text.substr(start, end - start);
    }
  }
}

TEST(TerminalColumns, AreWhatTheUserSaysElseWhatTheTerminalSays) {
  EXPECT_EQ(terminal_columns(-1, "72"), 72U);
  EXPECT_EQ(terminal_columns(-1, "3"), 20U);
  for (const char* bad : {"", "0", "wide", "-7", "100000"}) {
    EXPECT_EQ(terminal_columns(-1, bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
