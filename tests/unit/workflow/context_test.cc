// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/context.h"

#include <gtest/gtest.h>

#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

TEST(ContextTest, PathsBelowCmsswBaseAreWrittenRelativeToIt) {
  Environment environment;
  EXPECT_EQ(cmssw_relative(environment, "/cms/area/out"), "/cms/area/out");
  environment.cmssw_base = "/cms/area/";
  EXPECT_EQ(cmssw_relative(environment, "/cms/area/out/x.xml"), "$CMSSW_BASE/out/x.xml");
  EXPECT_EQ(cmssw_relative(environment, "/cms/area"), "$CMSSW_BASE");
  EXPECT_EQ(cmssw_relative(environment, "/cms/area2/out"), "/cms/area2/out");
  EXPECT_EQ(cmssw_relative(environment, "/cms"), "/cms");
  EXPECT_EQ(cmssw_relative(environment, "/cms/area/..x"), "$CMSSW_BASE/..x");
}

TEST(ContextTest, PathsOfTheUserBecomeAbsolute) {
  RealFileSystem files;
  SilentDiagnostics diagnostics;
  Environment environment;
  environment.working_directory = "/work/dir";
  const Context context{files, diagnostics, environment};
  EXPECT_EQ(context.absolute("out/"), "/work/dir/out");
  EXPECT_EQ(context.absolute("../a/./b"), "/work/a/b");
  EXPECT_EQ(context.absolute("/x/y//z"), "/x/y/z");
  EXPECT_EQ(context.absolute("."), "/work/dir");
  EXPECT_EQ(context.absolute("/"), "/");
}

}  // namespace
}  // namespace tfaot::toolkit
