# SPDX-License-Identifier: Apache-2.0
# Run after the tool, which does not write files that are equal. HEADERS: folder of the model's headers; MANIFEST: the tree's manifest.json.
# - A build tool knows model.h as a product, but not the headers that it includes. If one of them is newer, model.h gets a new time,
#   so that users are compiled again in this build, not in the next.
# - make compares only times: it would make an old manifest again in each build.
file(GLOB headers "${HEADERS}/*.h")
foreach(header IN LISTS headers)
  if("${header}" IS_NEWER_THAN "${HEADERS}/model.h" AND NOT "${HEADERS}/model.h" IS_NEWER_THAN "${header}")
    file(TOUCH_NOCREATE "${HEADERS}/model.h")
  endif()
endforeach()
file(TOUCH_NOCREATE "${MANIFEST}")
