# SPDX-License-Identifier: Apache-2.0
# The libraries of the tools, all from Debian 12 (packaging/debian-packages.txt).
include_guard()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(LibArchive REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)  # headers only
find_path(TFAOT_MUSTACHE_INCLUDE_DIR kainjow/mustache.hpp mustache.hpp REQUIRED)
find_path(TFAOT_LIBELF_INCLUDE_DIR libelf.h REQUIRED)
find_library(TFAOT_LIBELF_LIBRARY elf REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libuv REQUIRED IMPORTED_TARGET GLOBAL libuv)
