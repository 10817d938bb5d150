# Made by tfaot from model whole, version 2024a. Do not edit.
# A dotted version serves requests for the same major version that are not newer; any other version serves only
# the request for exactly itself.
set(PACKAGE_VERSION "2024a")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)

if(PACKAGE_VERSION STREQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()

# The objects are for one processor.
if(CMAKE_SYSTEM_PROCESSOR AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(PACKAGE_VERSION "2024a (for x86_64)")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
