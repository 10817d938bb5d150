// SPDX-License-Identifier: Apache-2.0
// Asks the compiler which names its standard headers and POSIX's use. These names must be in the
// table of the records room; other compilers may use fewer. TFAOT_UPDATE_GOLDEN=1 writes the table
// again.
#include "tfaot/records/cpp_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using Names = std::set<std::string>;

// C++17's, without those that only repeat C's headers.
constexpr const char* kHeaders =
    "algorithm any array atomic bitset cassert cctype cerrno cfenv cfloat charconv chrono "
    "cinttypes "
    "climits clocale cmath complex condition_variable csetjmp csignal cstdarg cstddef cstdint "
    "cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception filesystem forward_list "
    "fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator "
    "limits "
    "list locale map memory memory_resource mutex new numeric optional ostream queue random ratio "
    "regex scoped_allocator set shared_mutex sstream stack stdexcept streambuf string string_view "
    "system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility "
    "valarray variant vector";

// POSIX's, as programs include them before a model's header.
constexpr const char* kPosixHeaders =
    "arpa/inet.h dirent.h dlfcn.h fcntl.h fenv.h glob.h grp.h netdb.h netinet/in.h poll.h "
    "pthread.h "
    "pwd.h sched.h semaphore.h sys/ioctl.h sys/mman.h sys/resource.h sys/select.h sys/socket.h "
    "sys/stat.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/utsname.h sys/wait.h syslog.h "
    "termios.h unistd.h";

std::string includes() {
  std::istringstream names(std::string(kHeaders) + " " + kPosixHeaders);
  std::string text;
  for (std::string name; names >> name;) text += "#include <" + name + ">\n";
  return text;
}

ProcessResult compile(const std::vector<std::string>& options, const std::string& source) {
  ProcessSpec spec;
  spec.program = TFAOT_TEST_CXX;
  spec.arguments = {"-std=gnu++17", "-w", "-x", "c++"};
  spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
  spec.arguments.emplace_back("-");
  spec.standard_input = source;
  const auto result = run_process(spec);
  EXPECT_TRUE(result) << (result ? "" : result.error().text());
  return result.value_or(ProcessResult());
}

bool can_be_chosen(const std::string& name) {
  return is_cpp_identifier(name) && name.front() != '_';
}

Names macros_of_headers() {
  Names names;
  for (const std::string& line : split_lines(compile({"-dM", "-E"}, includes()).standard_output)) {
    std::istringstream words(line);
    std::string define;
    std::string name;
    words >> define >> name;
    name = name.substr(0, name.find('('));
    if (can_be_chosen(name)) names.insert(name);
  }
  return names;
}

Names identifiers_of_headers() {
  Names names;
  std::string name;
  for (const char c : compile({"-E", "-P"}, includes()).standard_output) {
    if (is_letter_or_digit(c) || c == '_') {
      name += c;
    } else {
      if (can_be_chosen(name)) names.insert(name);
      name.clear();
    }
  }
  return names;
}

// Those of which no namespace can be made, macros apart.
Names globals_of_headers(const Names& macros) {
  std::string source = includes();
  const auto first =
      static_cast<std::size_t>(line_at(source, static_cast<std::ptrdiff_t>(source.size())));
  std::vector<std::string> asked;
  for (const std::string& name : identifiers_of_headers()) {
    if (macros.count(name) > 0 || name == "std") continue;
    asked.push_back(name);
    source += "namespace " + name + " {}\n";
  }
  const ProcessResult result =
      compile({"-fsyntax-only", "-fmax-errors=0", "-ferror-limit=0"}, source);
  const ProcessResult usual = result.standard_error.find("-ferror-limit") == std::string::npos
                                  ? result
                                  : compile({"-fsyntax-only", "-fmax-errors=0"}, source);
  Names names;
  constexpr std::string_view kPlace = "<stdin>:";
  for (const std::string& line : split_lines(usual.standard_error)) {
    if (!line.starts_with(kPlace) || line.find(" error: ") == std::string::npos) continue;
    const std::size_t number = std::strtoul(line.c_str() + kPlace.size(), nullptr, 10);
    if (number >= first && number - first < asked.size()) names.insert(asked[number - first]);
  }
  return names;
}

// The table's form: names with the same start are a family, "AF_{INET UNIX}". A start ends with '_',
// or is a name itself, whose rest is empty: "accept{ 4}". REQUIRES: sorted names.
std::string families(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    std::string start = names[i];
    std::string best;
    std::size_t saved = 2;  // the braces
    std::size_t end = i + 1;
    for (std::size_t j = i + 1; j < names.size() && !start.empty(); ++j) {
      start.erase(std::ranges::mismatch(start, names[j]).in1, start.end());
      if (start != names[i]) start.resize(start.rfind('_') + 1);
      if ((j - i) * start.size() <= saved) continue;
      saved = (j - i) * start.size();
      best = start;
      end = j + 1;
    }
    std::vector<std::string> rests;
    for (const std::string& name : names.subspan(i, end - i)) {
      rests.push_back(name.substr(best.size()));
    }
    text += (i == 0 ? "" : " ") + (best.empty() ? names[i] : best + "{" + families(rests) + "}");
    i = end;
  }
  return text;
}

std::string constant(const char* name, const Names& names) {
  constexpr std::size_t kWidth = 92;  // of a line between its quotes, with the blank at its end
  const std::vector<std::string> sorted(names.begin(), names.end());
  std::string rest = families(sorted);
  std::string text = fmt::format("constexpr const char* {} =\n", name);
  while (rest.size() > kWidth) {
    const std::size_t end = rest.rfind(' ', kWidth - 1) + 1;
    text += fmt::format("    \"{}\"\n", rest.substr(0, end));
    rest.erase(0, end);
  }
  return text + fmt::format("    \"{}\";\n", rest);
}

TEST(TakenNames, AreThoseOfTheStandardHeaders) {
  const Names macros = macros_of_headers();
  const Names globals = globals_of_headers(macros);
  ASSERT_GT(macros.size(), 300U);
  ASSERT_GT(globals.size(), 500U);
  if (std::getenv("TFAOT_UPDATE_GOLDEN") != nullptr) {
    RealFileSystem files;
    ASSERT_TRUE(files.replace_atomically(
        Path(TFAOT_SOURCE_DIR) / "modules/records/src/taken_names.inc",
        "// SPDX-License-Identifier: Apache-2.0\n" + constant("kTakenMacros", macros) + "\n" +
            constant("kTakenGlobals", globals)));
    return;
  }
  const char* const advice =
      "TFAOT_UPDATE_GOLDEN=1 writes modules/records/src/taken_names.inc again";
  for (const std::string& name : macros)
    EXPECT_TRUE(is_taken_macro(name)) << name << ": " << advice;
  for (const std::string& name : globals) {
    EXPECT_TRUE(is_taken_global(name)) << name << ": " << advice;
  }
}

TEST(TakenNames, AreNoUsualNames) {
  for (const char* name :
       {"tagger", "DNN", "BDT", "MyModel", "test", "tfaot_model", "cms", "deep"}) {
    EXPECT_FALSE(is_taken_macro(name)) << name;
    EXPECT_FALSE(is_taken_global(name)) << name;
  }
  for (const char* name : {"BUFSIZ", "RAND_MAX", "INT64_MAX", "stdin", "EOF", "assert"}) {
    EXPECT_TRUE(is_taken_macro(name)) << name;
  }
  for (const char* name : {"size_t", "abs", "printf", "malloc", "FILE"}) {
    EXPECT_TRUE(is_taken_global(name)) << name;
  }
}

TEST(MemberNames, AreTheTensorsOwnWhereCppTakesThem) {
  EXPECT_EQ(member_names({"x", "jet_pt2", "X"}, "input"),
            (std::vector<std::string>{"x", "jet_pt2", "X"}));
}

TEST(MemberNames, AreOfLettersDigitsAndSingleUnderscores) {
  EXPECT_EQ(member_names({"serving/x.0:1", "__a--b__", "d \xC3\xA9 e", "dense/BiasAdd"}, "input"),
            (std::vector<std::string>{"serving_x_0_1", "a_b", "d_e", "dense_BiasAdd"}));
}

TEST(MemberNames, GetTheKindWhereNoNameIsLeftOrADigitIsFirst) {
  EXPECT_EQ(member_names({"", "495", "::", "0/x"}, "output"),
            (std::vector<std::string>{"output_0", "output_495", "output_2", "output_0_x"}));
}

TEST(MemberNames, LeaveTheWordsOfCppAndOfTheStruct) {
  EXPECT_EQ(member_names({"class", "NULL", "and", "Inputs", "Types", "in_order", "TFAOT_HIDDEN"},
                         "input"),
            (std::vector<std::string>{"class_", "NULL_", "and_", "Inputs_", "Types_", "in_order_",
                                      "TFAOT_HIDDEN_"}));
}

TEST(MemberNames, AreAllDifferent) {
  // A tensor that is called so keeps the name, wherever it stands.
  EXPECT_EQ(member_names({"x.1", "x/1", "x_1_2", "x_1", "x:1"}, "input"),
            (std::vector<std::string>{"x_1_3", "x_1_4", "x_1_2", "x_1", "x_1_5"}));
  EXPECT_EQ(member_names({"class", "class_", "class"}, "input"),
            (std::vector<std::string>{"class_2", "class_", "class_3"}));
  EXPECT_EQ(member_names({"x", "x"}, "input"), (std::vector<std::string>{"x", "x_2"}));
}

}  // namespace
}  // namespace tfaot::toolkit
