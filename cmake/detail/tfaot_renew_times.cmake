# SPDX-License-Identifier: Apache-2.0
# Run after the tool, which leaves equal files alone. HEADERS: folder of the model's headers; MANIFEST: the tree's manifest.json.
# - A build tool knows model.h as a product, and no name of the headers it includes: when one of those is newer, model.h gets a new
#   time, so that users are compiled again in this build, not in the next.
# - Make compares times of files only: an old manifest would be made again in each build.
file(GLOB headers "${HEADERS}/*.h")
foreach(header IN LISTS headers)
  if("${header}" IS_NEWER_THAN "${HEADERS}/model.h" AND NOT "${HEADERS}/model.h" IS_NEWER_THAN "${header}")
    file(TOUCH_NOCREATE "${HEADERS}/model.h")
  endif()
endforeach()
file(TOUCH_NOCREATE "${MANIFEST}")
