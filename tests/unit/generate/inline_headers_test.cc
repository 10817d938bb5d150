// SPDX-License-Identifier: Apache-2.0
#include "inline_headers.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

const HeaderTexts kHeaders = {
    {"a/one.h", "#pragma once\n#include <vector>\n#include \"a/two.h\"  // why\nint one;\n"},
    {"a/two.h", "#pragma once\n#include \"a/three.h\"\nint two;\n"},
    {"a/three.h", "#pragma once\nint three;\n"}};

TEST(InlineHeaders, PutsWhatIsIncludedFirstAndOnce) {
  EXPECT_EQ(inlined_headers("all", {{"all", "#include \"a/one.h\"\n#include \"a/three.h\"\n"},
                                    {"a/one.h", kHeaders.at("a/one.h")},
                                    {"a/two.h", kHeaders.at("a/two.h")},
                                    {"a/three.h", kHeaders.at("a/three.h")}}),
            "#ifndef TFAOT_INLINED_A_THREE_H\n#define TFAOT_INLINED_A_THREE_H\nint three;\n#endif\n"
            "#ifndef TFAOT_INLINED_A_TWO_H\n#define TFAOT_INLINED_A_TWO_H\nint two;\n#endif\n"
            "#ifndef TFAOT_INLINED_A_ONE_H\n#define TFAOT_INLINED_A_ONE_H\n#include <vector>\n"
            "int one;\n#endif\n"
            "#ifndef TFAOT_INLINED_ALL\n#define TFAOT_INLINED_ALL\n#endif\n");
}

TEST(InlineHeaders, LeavesOutWhatItDoesNotHave) {
  EXPECT_EQ(with_inlined_headers("#pragma once\n#include <map>\n#include \"b/x.h\"\n"
                                 "#include \"a/two.h\"\nint own;\n",
                                 kHeaders),
            "#include <map>\nint three;\nint two;\nint own;\n");
}

}  // namespace
}  // namespace tfaot::toolkit
