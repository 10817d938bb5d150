// SPDX-License-Identifier: Apache-2.0
// Whatever name a config may give a model or its namespace, the package's header compiles: every
// word of our own headers is tried, and what C++ programs are full of.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "headers.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/records/sample_records.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/generate/generate.h"

namespace tfaot::toolkit {
namespace {

using Names = std::set<std::string>;

struct Name {
  std::string model;
  std::string name_space;
  bool is_sized = false;  // it has free dimensions
};

bool is_accepted(const Name& name) {
  const testing::MemoryFileSystem fs(
      {{"/m/aot_config.yaml", "model: {name: '" + name.model +
                                  "', version: '1'}\ncompilation: {batch_sizes: [1], namespace: '" +
                                  name.name_space + "'" +
                                  (name.is_sized ? ", dimensions: {n: 1..40}" : "") + "}\n"},
       {"/m/saved_model/saved_model.pb", "model"}});
  const auto spec = load_model_spec(fs, "/m/aot_config.yaml");
  return spec && check_names(*spec, {});
}

std::vector<GeneratedFile> package_of(const Name& name, HeadersMode headers) {
  testing::Records records =
      headers == HeadersMode::kCmssw ? testing::cmssw_records() : testing::simple_records();
  if (name.is_sized) records = testing::sized_records();
  records.spec.model.name = name.model;
  records.spec.compilation.namespace_name = name.name_space;
  const auto generated = generate_files(records.spec, records.compiled,
                                        make_manifest(records.spec, records.compiled, "odd", {}),
                                        GenerateOptions().tool_base);
  EXPECT_TRUE(generated) << (generated ? "" : generated.error().text());
  return generated ? generated->files : std::vector<GeneratedFile>();
}

void add_words(const std::string& text, Names& names) {
  std::string word;
  for (const char c : text + "\n") {
    if (is_letter_or_digit(c) || c == '_') {
      word += c;
    } else {
      if (is_cpp_identifier(word)) names.insert(word);
      word.clear();
    }
  }
}

Names words_of_our_headers() {
  Names names;
  for (const HeadersMode mode : {HeadersMode::kSelfContained, HeadersMode::kCmssw}) {
    for (const GeneratedFile& file : package_of({"test", "tfaot_model"}, mode)) {
      if (file.path.ends_with(".h")) add_words(file.text, names);
    }
  }
  const RealFileSystem files;
  const Path runtime = Path(TFAOT_RUNTIME_INCLUDE) / "tfaot/runtime";
  for (const char* header : {"wrapper.h", "native_model.h", "model.h"}) {
    if (const auto text = files.read(runtime / header)) add_words(*text, names);
  }
  return names;
}

void compile_in(const Path& folder, const std::string& source) {
  RealFileSystem files;
  ASSERT_TRUE(files.replace_atomically(folder / "all.cc", source));
  ProcessSpec compiler;
  compiler.program = TFAOT_TEST_CXX;
  compiler.arguments = {"-std=c++17", "-w", "-fsyntax-only", "-I", TFAOT_RUNTIME_INCLUDE, "all.cc"};
  compiler.working_directory = folder;
  const auto compiled = run_process(compiler);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_TRUE(compiled->ok()) << compiled->standard_error.substr(0, 5000);
}

// Compiles the headers of all these names together, each used as a model.
void compile_all(const std::vector<Name>& names) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  std::string source =
      "#include <cstring>\n#include <iostream>\n#include <string>\n#include <vector>\n";
  std::string uses;
  std::size_t count = 0;
  for (const Name& name : names) {
    if (!is_accepted(name)) continue;
    const std::string place = "n" + std::to_string(++count);
    for (const GeneratedFile& file : package_of(name, HeadersMode::kSelfContained)) {
      if (!file.path.ends_with(".h")) continue;
      ASSERT_TRUE(files.replace_atomically(folder.path() / place / file.path, file.text));
    }
    source += "#include \"" + place + "/include/odd/model.h\"  // " + name.model + "\n";
    const std::string type = "::" + name.name_space + "::" + name.model;
    uses += "void use_" + place + "() {\n  ::tfaot::native::Model<" + type +
            "> native;\n  ::tfaot::Model<" + type + "> compatible;\n  " + type +
            " model;\n  (void)model.nArgs();\n  (void)sizeof(native);\n  "
            "(void)sizeof(compatible);\n}\n";
  }
  ASSERT_GT(count, 0U);
  compile_in(folder.path(), source + uses);
}

TEST(OddNames, OfModelsCompileWhereTheConfigTakesThem) {
  Names words = words_of_our_headers();
  ASSERT_GT(words.size(), 100U);
  for (const char* word : {"kDescription", "kInput0Shape", "BUFSIZ", "size_t", "printf", "std_",
                           "main", "int32_t", "cms", "edm", "xla", "Eigen", "linux", "I", "_x"}) {
    words.insert(word);
  }
  std::vector<Name> names;
  // Each in a namespace of its own: 'test_bs1' is also a name of the model 'test'.
  for (const std::string& word : words) {
    names.push_back({word, "odd_models" + std::to_string(names.size())});
  }
  compile_all(names);
}

// model.h of a model whose inputs, and outputs, have these names.
std::string header_with_tensors(const std::string& model, const std::vector<std::string>& tensors) {
  testing::Records records = testing::simple_records();
  records.spec.model.name = model;
  Signature& signature = records.compiled.signature;
  for (std::vector<TensorSpec>* specs : {&signature.inputs, &signature.outputs}) {
    specs->clear();
    for (const std::string& name : tensors) specs->push_back({name, DType::kInt64, {2}});
  }
  records.compiled.codes.clear();  // they are of another signature
  records.compiled.batch_sizes.clear();
  return model_header(
      records.spec, records.compiled,
      package_names(records.compiled, make_manifest(records.spec, records.compiled, "", {})));
}

TEST(OddNames, OfTensorsCompile) {
  Names words = words_of_our_headers();
  for (const char* word : {"", "495", "class", "NULL", "x.1", "x/1", "x_1", "x_1_2", "std", "tfaot",
                           "Inputs", "Types", "in_order", "linux", "I", "_x", "__x", "assert"}) {
    words.insert(word);
  }
  constexpr std::size_t kTensors = 40;
  std::string source = "#include <cassert>\n#include <cstdio>\n";
  const std::vector<std::string> all(words.begin(), words.end());
  for (std::size_t first = 0; first < all.size(); first += kTensors) {
    const std::size_t last = std::min(all.size(), first + kTensors);
    const std::string model = "odd_" + std::to_string(first);
    source += header_with_tensors(model, {all.begin() + static_cast<std::ptrdiff_t>(first),
                                          all.begin() + static_cast<std::ptrdiff_t>(last)});
    source += "void use(::tfaot_model::" + model + "::Inputs in, ::tfaot_model::" + model +
              "::Outputs out) {\n  ::tfaot::native::Model<::tfaot_model::" + model +
              ">().run(2, in, out);\n}\n";
  }
  const testing::TemporaryFolder folder;
  compile_in(folder.path(), source);
}

// Their classes have members that no others have.
TEST(OddNames, OfModelsWithFreeDimensionsCompileWhereTheConfigTakesThem) {
  std::vector<Name> names;
  for (const char* word :
       {"Sizes", "Offsets", "kDimensions", "kInput0Sizes", "kOutput1Sizes_0Terms",
        "kInput0Sizes_0_0Powers", "kInput", "n_tracks", "k", "array", "run_ragged", "in_order",
        "number_at", "FreeDimension", "SizeTerm"}) {
    names.push_back({word, "odd_models" + std::to_string(names.size()), true});
  }
  EXPECT_FALSE(is_accepted({"Sizes", "a", true}));
  EXPECT_TRUE(is_accepted({"Sizes", "a", false}));
  compile_all(names);
}

TEST(OddNames, OfDimensionsCompile) {
  Names words = words_of_our_headers();
  for (const char* word : {"",
                           "1n",
                           "class",
                           "run",
                           "sizes",
                           "Sizes",
                           "Offsets",
                           "n.1",
                           "n/1",
                           "n_1",
                           "x:1",
                           "std",
                           "tfaot",
                           "in_order",
                           "array",
                           "linux",
                           "I",
                           "_n",
                           "__n",
                           "n_gr\xc3\xb6\xc3\x9f"
                           "e",
                           "\xe7\xb2\x92\xe5\xad\x90",
                           "odd"}) {
    words.insert(word);
  }
  testing::Records records = testing::sized_records();
  records.spec.model.name = "odd";
  records.compiled.dimensions.clear();
  for (const std::string& word : words) records.compiled.dimensions.push_back({word, 1, 40});
  records.compiled.codes.clear();
  records.compiled.batch_sizes.clear();
  const testing::TemporaryFolder folder;
  compile_in(folder.path(),
             model_header(records.spec, records.compiled,
                          package_names(records.compiled,
                                        make_manifest(records.spec, records.compiled, "", {}))) +
                 R"(
using Odd = ::tfaot::native::Model<::tfaot_model::odd>;
void use(Odd::Sizes sizes, Odd::Offsets offsets, Odd::Inputs in, Odd::Outputs out) {
  Odd().run(2, sizes, in, out);
  Odd().run_ragged(2, offsets, in, out);
}
)");
}

TEST(OddNames, OfNamespacesCompileWhereTheConfigTakesThem) {
  std::vector<Name> names;
  for (const char* word :
       {"size_t",      "stdin",    "abs",      "printf",    "malloc",  "FILE",
        "test",        "a::std",   "a::tfaot", "a::size_t", "runtime", "native",
        "detail",      "literals", "Model",    "kInputs",   "main_",   "a::b::c::d::e",
        "cms::models", "_a",       "string",   "vector",    "time",    "index",
        "y0",          "signal"}) {
    names.push_back({"test", word});
  }
  compile_all(names);
}

}  // namespace
}  // namespace tfaot::toolkit
