// SPDX-License-Identifier: Apache-2.0
// scram's BuildFile.xml -> what is to be built -> CMake code. It reads files as scram does
// (docs/buildfile.md), but reports what scram silently ignores as an error or a warning with its
// line. Touches no files: CMake expands patterns. Pure functions, safe from many threads.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// <use>: a package "Sub/Pkg" or a tool.
struct BuildUse {
  std::string name;
  bool source_only = false;  // only its headers, nothing to link
  int line = 0;
};

// <flags>; scram reads only the first attribute.
struct BuildFlag {
  std::string name;  // in capitals
  std::string value;
  int line = 0;
};

// <aot_compile>: a model that is compiled for a product.
struct AotModel {
  std::string model;       // as written
  std::string class_name;  // "tagger" or "ns::tagger"
  std::string version;     // empty: a config's, or 1.0.0
  std::vector<std::string> batch_sizes;
  std::vector<std::string> cpu_levels;
  std::vector<std::string> dimensions;  // "n_tracks=50"
  std::string headers;                  // "cmssw"; empty: a config's, or the default
  int line = 0;
};

// What a BuildFile says for all its products, or for one of them.
struct BuildBlock {
  std::vector<BuildUse> uses;
  std::vector<BuildFlag> flags;
  std::vector<std::string> libraries;
  std::vector<std::string> include_paths;
  std::vector<AotModel> models;
};

enum class ProductKind { kLibrary, kProgram, kTest };

struct BuildProduct {
  ProductKind kind = ProductKind::kLibrary;
  std::string name;
  std::vector<std::string> files;  // names and patterns, relative to the BuildFile's folder
  std::string command;             // of a <test>
  int line = 0;
  BuildBlock block;
};

struct BuildFile {
  std::string file;
  BuildBlock common;
  bool has_export = false;
  std::vector<std::string> exported_libraries;  // "1": the package's own
  std::vector<BuildProduct> products;           // in the order of the file
  std::vector<std::string> warnings;            // "BuildFile.xml:3: ..."
};

// The values that scram's conditions test. An empty value means that scram did not set the
// variable.
struct BuildConditions {
  std::string architecture;                  // SCRAM_ARCH
  std::string release;                       // SCRAM_PROJECTVERSION
  std::string compiler = "gcc";              // DEFAULT_COMPILER
  std::string os = "linux";                  // of the target
  std::string machine = "x86_64";            // of the target
  std::map<std::string, std::string> tools;  // name -> version, of available tools
};

// Where a BuildFile is: the package "Sub/Pkg" and the folder in it, empty for the package's own
// file.
struct BuildPlace {
  std::string package;
  std::string folder;  // "plugins", "bin", "test"
};

enum class TargetKind { kPackage, kLibrary, kPlugin, kProgram, kTest };

struct BuildTarget {
  TargetKind kind = TargetKind::kPackage;
  std::string name;
  int line = 0;                        // 0: the whole file
  bool builds_library = true;          // for a package: false if it has only headers
  bool all_sources = false;            // every source of the folder
  bool sources_of_subfolders = false;  // and of the folders in it
  std::vector<std::string> files;      // else these
  std::vector<std::string> skipped;    // names that are left out
  std::vector<BuildUse> uses;          // used by the target, and by users of a package
  std::vector<BuildUse> private_uses;  // not passed on to users of a package
  std::vector<std::string> libraries;  // -l
  std::vector<std::string> include_paths;
  std::map<std::string, std::vector<std::string>> flags;  // CXXFLAGS, CPPDEFINES, LDFLAGS ...
  std::vector<std::string> models;                        // class names
  std::string dnn_name;                                   // DNN_NAME
  std::string command;                                    // of a test: a shell's command line
  std::vector<std::string> arguments;                     // of a test that is a program
  std::vector<std::string> environment;                   // of a test, "A=b"
  std::vector<std::string> run_before;                    // names of other tests
  bool runs = true;                                       // false: the test is only built
};

struct BuildPlan {
  std::string file;
  std::vector<AotModel> models;
  std::vector<BuildTarget> targets;
  std::vector<std::string> warnings;
};

struct BuildFileSource {
  std::string file;  // for messages
  std::string text;
  std::map<std::string, std::string> variables;  // for ${NAME} and $(NAME) in values
};

Result<BuildFile> parse_build_file(const BuildFileSource& source,
                                   const BuildConditions& conditions);

// Resolves scram's defaults: the package's library, plugins, tests.
Result<BuildPlan> plan_build(const BuildFile& file, const BuildPlace& place);

// Calls of _tfaot_buildfile_*() (cmake/detail/tfaot_buildfile.cmake).
std::string cmake_script(const BuildPlan& plan);

}  // namespace tfaot::toolkit
