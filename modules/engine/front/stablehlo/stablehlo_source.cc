// SPDX-License-Identifier: Apache-2.0
#include "front/stablehlo/stablehlo_source.h"

#include <fmt/format.h>

#include <charconv>
#include <exception>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/simplify.h"
#include "front/lowering/post_order.h"
#include "front/lowering/signature.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/primitive_util.h"
#include "xla/service/topk_rewriter.h"

// Exported by TensorFlow's library; the wheel has no headers for them.
namespace tensorflow {
// Parses a module in any form, runs passes on it and prints it. With an error in `status`, the
// result is not a module.
std::string ExperimentalRunPassPipeline(const std::string& module, const std::string& passes,
                                        bool with_locations, TF_Status* status);
}  // namespace tensorflow
namespace xla {
absl::Status ParseMlirModuleStringAndConvertToXlaComputation(std::string_view module,
                                                             XlaComputation& computation,
                                                             bool use_tuple_args,
                                                             bool return_tuple);
}  // namespace xla

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using Argument = tf::XlaCompiler::Argument;

// Fields of JAX's schema, the same since its first version (2023); later ones were added at the
// end. Exported:
constexpr int kInputShapes = 3;
constexpr int kPlatforms = 9;
constexpr int kModule = 13;
constexpr int kKeptInputs = 15;    // numbers of 2 bytes: inputs that are arguments of the module
constexpr int kUniqueShapes = 19;  // since 2026
constexpr int kInputShapeIndices = 22;
// AbstractValue:
constexpr int kSizes = 1;

constexpr std::size_t kMostPlatforms = 64;

// A table of a FlatBuffer. Fields are numbered in the order of the schema. Returns nothing for
// fields that are unset or malformed.
class FlatTable {
 public:
  static std::optional<FlatTable> root(std::string_view bytes) {
    return FlatTable(bytes, 0).table_behind(0);
  }

  std::optional<std::string_view> text(int field) const {
    const auto place = place_of(field);
    return place ? text_behind(*place) : std::nullopt;
  }
  template <class Number>
  std::optional<std::vector<Number>> numbers(int field) const {
    return all<Number>(field, &FlatTable::read<Number>);
  }
  std::optional<std::vector<FlatTable>> tables(int field) const {
    return all<FlatTable>(field, &FlatTable::table_behind, sizeof(Offset));
  }
  std::optional<std::vector<std::string_view>> texts(int field) const {
    return all<std::string_view>(field, &FlatTable::text_behind, sizeof(Offset));
  }

 private:
  using Offset = std::uint32_t;

  FlatTable(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  template <class Number>
  std::optional<Number> read(std::size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(Number)) return std::nullopt;
    Number value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::optional<FlatTable> table_behind(std::size_t at) const {
    const auto offset = read<Offset>(at);
    return offset.value_or(0) == 0 ? std::nullopt : std::optional(FlatTable(bytes_, at + *offset));
  }
  std::optional<std::string_view> text_behind(std::size_t at) const {
    return vector_behind(at, sizeof(char));
  }
  // A table starts with the distance back to the list of its fields.
  std::optional<std::size_t> place_of(int field) const {
    const auto back = read<std::int32_t>(at_);
    if (!back) return std::nullopt;
    const auto fields = static_cast<std::size_t>(static_cast<std::int64_t>(at_) - *back);
    const std::size_t entry = 4 + 2 * static_cast<std::size_t>(field);
    const auto size = read<std::uint16_t>(fields);
    if (!size || entry + 2 > *size) return std::nullopt;
    const auto offset = read<std::uint16_t>(fields + entry);
    return offset.value_or(0) == 0 ? std::nullopt : std::optional(at_ + *offset);
  }
  // The bytes of a vector whose elements have this size.
  std::optional<std::string_view> vector_behind(std::size_t at, std::size_t size) const {
    const auto offset = read<Offset>(at);
    const auto count = offset ? read<Offset>(at + *offset) : std::nullopt;
    if (!count) return std::nullopt;
    const std::size_t start = at + *offset + sizeof(Offset);
    if (start > bytes_.size() || (bytes_.size() - start) / size < *count) return std::nullopt;
    return bytes_.substr(start, *count * size);
  }
  template <class Element>
  std::optional<std::vector<Element>> all(
      int field, std::optional<Element> (FlatTable::*element_at)(std::size_t) const,
      std::size_t size = sizeof(Element)) const {
    const auto place = place_of(field);
    const auto list = place ? vector_behind(*place, size) : std::nullopt;
    if (!list) return std::nullopt;
    std::vector<Element> found;
    const auto start = static_cast<std::size_t>(list->data() - bytes_.data());
    for (std::size_t at = start; at < start + list->size(); at += size) {
      const auto one = (this->*element_at)(at);
      if (!one) return std::nullopt;
      found.push_back(*one);
    }
    return found;
  }

  std::string_view bytes_;
  std::size_t at_;
};

// The longest name of a size or a platform.
constexpr std::size_t kLongestText = 1000;

// Nothing if a text is longer than kLongestText, or there are more than `most`.
std::optional<std::vector<std::string_view>> short_texts(const FlatTable& table, int field,
                                                         std::size_t most) {
  auto texts = table.texts(field);
  if (!texts) return std::vector<std::string_view>();  // sizes of a scalar
  const bool is_long = texts->size() > most || std::ranges::any_of(*texts, [](auto text) {
                         return text.size() > kLongestText;
                       });
  if (is_long) return std::nullopt;
  return texts;
}

// The shape of each input. Newer files store unique shapes, and an index for each input.
std::optional<std::vector<FlatTable>> input_shapes(const FlatTable& exported) {
  auto shapes = exported.tables(kInputShapes);
  if (shapes && !shapes->empty()) return shapes;
  const auto unique = exported.tables(kUniqueShapes);
  const auto indices = exported.numbers<std::uint32_t>(kInputShapeIndices);
  if (!unique || !indices) return shapes;
  std::vector<FlatTable> found;
  for (const std::uint32_t index : *indices) {
    if (index >= unique->size()) return std::nullopt;
    found.push_back((*unique)[index]);
  }
  return found;
}

// The start of a portable artifact.
constexpr std::string_view kArtifact = "ML\xEFR";
// The newest version of StableHLO that the wheel knows in full (stablehlo/dialect/Version.h). It
// also reads newer artifacts that use nothing new.
constexpr const char* kNewestVersion = "1.7.3";
constexpr const char* kHelper = "tfaot_jax.export() writes what tfaot reads (docs/stablehlo.md)";

// Prints a module by running a pass that changes nothing: valid modules are sorted already.
Result<std::string> printed(const std::string& module) {
  const std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)> status(TF_NewStatus(),
                                                                      &TF_DeleteStatus);
  try {
    std::string text = tensorflow::ExperimentalRunPassPipeline(
        module, "builtin.module(topological-sort)", true, status.get());
    if (TF_GetCode(status.get()) == TF_OK) return text;
  } catch (const std::exception& thrown) {  // by LLVM's containers, for sizes of a broken artifact
    return fail(Error(fmt::format("error: {}", thrown.what())));
  }
  return fail(Error(TF_Message(status.get())));
}

// The artifact's version, "1.7.0", from its header, which ends with a zero.
std::string version_of(std::string_view artifact) {
  constexpr std::string_view kProducer = "StableHLO_v";
  const std::size_t found = artifact.substr(0, 64).find(kProducer);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = artifact.substr(found + kProducer.size());
  const auto* const end =
      std::ranges::find_if_not(rest, [](char c) { return is_digit(c) || c == '.'; });
  return {rest.begin(), end};
}

// Takes line and text from "-:325:55: error: expected ')'".
Error parser_error(const std::string& file, const std::string& message, bool is_text) {
  const std::string first = message.substr(0, message.find('\n'));
  int line = 0;
  if (is_text && first.starts_with("-:"))
    std::from_chars(&first[2], first.data() + first.size(), line);
  const std::size_t text = first.find("error: ");
  Error error = Error::at({file, line, 0}, "XLA cannot read it as StableHLO");
  if (text == std::string::npos) return error;
  return std::move(error).note("XLA: " + first.substr(text + 7));
}

Result<std::string> text_of_artifact(const std::string& file, std::string_view artifact) {
  auto text = printed(std::string(artifact));
  if (text) return text;
  const std::string version = version_of(artifact);
  Error error = parser_error(file, text.error().message(), false);
  if (!version.empty()) {
    error.note(fmt::format("it is StableHLO {}; the TensorFlow of tfaot reads versions up to {}",
                           version, kNewestVersion));
  }
  return fail(std::move(error).note(kHelper));
}

// Retries without locations, whose syntax newer versions changed.
Result<std::string> text_of_mlir(const std::string& file, const std::string& mlir) {
  auto text = printed(mlir);
  if (text) return text;
  text = printed(without_locations(mlir));
  if (text) return text;
  return fail(parser_error(file, text.error().message(), true).note(kHelper));
}

bool is_printable(std::string_view bytes) {
  return !bytes.empty() && std::ranges::none_of(bytes.substr(0, 4096), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' && c != '\r';
  });
}

Status check_platforms(const std::string& file, const JaxExport& exported) {
  const auto& platforms = exported.platforms;
  if (contains(platforms, "cpu")) return {};
  return fail(Error::at({file}, fmt::format("is exported for {}, not for CPUs",
                                            platforms.empty() ? "no platform" : platforms.front()))
                  .note("export it with platforms=['cpu']"));
}

struct StableHloModule {
  std::string producer;                 // "StableHLO 1.7.0"; empty: the file does not say
  std::string whole;                    // the text that XLA made of it
  std::string text;                     // the same with calls instead of constants
  std::vector<ConstantText> constants;  // places in `whole`
  FunctionText main;                    // without what JAX passes itself
  std::vector<std::string> platforms;   // of a module with code for several
};

// The envelope of a file of jax.export; empty for the others.
Result<JaxExport> read_any(const std::string& file, const std::string& bytes,
                           StableHloModule& module) {
  if (is_printable(bytes)) {
    TFAOT_TRY(check_sizes(file, bytes));
    TFAOT_ASSIGN(module.whole, text_of_mlir(file, bytes));
    return JaxExport();
  }
  JaxExport around;
  around.module = bytes;
  if (!bytes.starts_with(kArtifact)) {
    auto exported = read_jax_export(bytes);
    if (!exported || !exported->module.starts_with(kArtifact)) {
      return fail(Error::at({file}, "is not StableHLO")
                      .note("it is neither MLIR as text, nor a portable artifact, nor a whole file "
                            "of jax.export"));
    }
    TFAOT_TRY(check_platforms(file, *exported));
    around = std::move(*exported);
  }
  const std::string version = version_of(around.module);
  if (!version.empty()) module.producer = "StableHLO " + version;
  TFAOT_ASSIGN(module.whole, text_of_artifact(file, around.module));
  return around;
}

// Removes the arguments that JAX passes itself: a number for the platform, and sizes.
FunctionText own_arguments(FunctionText function) {
  std::erase_if(function.arguments,
                [](const FunctionValue& value) { return !value.global_constant.empty(); });
  return function;
}

// Adds the names that another function has for the same arguments.
void add_names(std::optional<FunctionText> other, FunctionText& main) {
  if (!other) return;
  const FunctionText own = own_arguments(std::move(*other));
  for (std::size_t i = 0; i < std::min(own.arguments.size(), main.arguments.size()); ++i) {
    if (main.arguments[i].name.empty()) main.arguments[i].name = own.arguments[i].name;
  }
}

// XLA's type; PRIMITIVE_TYPE_INVALID for types that inputs cannot have.
xla::PrimitiveType type_of_text(std::string_view element) {
  if (element == "i1") return xla::PRED;
  // XLA's names are "s32" for "i32", and "u32" for "ui32".
  std::string name(element);
  if (name.starts_with("ui")) name.erase(1, 1);
  if (name.starts_with('i')) name.front() = 's';
  const auto type = xla::primitive_util::StringToPrimitiveType(name);
  return type.ok() && dtype_of(*type) ? *type : xla::PRIMITIVE_TYPE_INVALID;
}

std::string_view text_of(const StableHloModule& module, std::size_t constant) {
  const ConstantText& one = module.constants[constant];
  return std::string_view(module.whole).substr(one.value, one.size);
}

// REQUIRES: one of the module's constants, which have types that can be stored.
xla::Shape shape_of_constant(const StableHloModule& module, std::size_t constant) {
  const TensorText& type = module.constants[constant].type;
  return shape_of(type_of_text(type.element), type.sizes);
}

// The digits of a constant that XLA printed in hexadecimal, as it does for more than a hundred
// elements: 'dense<"0x00FF...">'. Nothing for other constants, splats, and booleans, which are
// packed there.
std::optional<std::string_view> binary_digits(const StableHloModule& module, std::size_t constant) {
  constexpr std::string_view kStart = "dense<\"0x";
  constexpr std::string_view kEnd = "\">";
  const std::string_view text = text_of(module, constant);
  const xla::Shape shape = shape_of_constant(module, constant);
  const auto digits = 2 * static_cast<std::size_t>(xla::ShapeUtil::ByteSizeOf(shape));
  if (!text.starts_with(kStart) || shape.element_type() == xla::PRED ||
      text.size() != kStart.size() + digits + kEnd.size()) {
    return std::nullopt;
  }
  return text.substr(kStart.size(), digits);
}

// Values of the module's constants, in order. The first call reads all that are not in binary form.
class ConstantValues {
 public:
  // The module must outlive the values.
  explicit ConstantValues(const StableHloModule& module) : module_(module) {}

  Result<Value> value(std::size_t constant) const {
    if (const auto digits = binary_digits(module_, constant)) {
      auto literal = std::make_shared<xla::Literal>(shape_of_constant(module_, constant));
      const std::string bytes = absl::HexStringToBytes(*digits);
      std::memcpy(literal->untyped_data(), bytes.data(), bytes.size());
      return literal;
    }
    if (small_.empty()) TFAOT_TRY(read_small());
    return small_.at(constant);
  }

 private:
  // Reads them as the results of a module that consists of these constants.
  Status read_small() const {
    std::string body;
    std::string names;
    std::string types;
    std::vector<std::size_t> constants;
    for (std::size_t i = 0; i < module_.constants.size(); ++i) {
      if (binary_digits(module_, i)) continue;
      std::string type = "tensor<";
      for (const auto size : module_.constants[i].type.sizes) type += fmt::format("{}x", size);
      type += module_.constants[i].type.element + ">";
      body += fmt::format("%c{} = stablehlo.constant {} : {}\n", i, text_of(module_, i), type);
      names += fmt::format("{}%c{}", names.empty() ? "" : ", ", i);
      types += (types.empty() ? "" : ", ") + type;
      constants.push_back(i);
    }
    const std::string text =
        fmt::format("module {{ func.func @main() -> ({}) {{\n{}return {} : {}\n}} }}", types, body,
                    names, types);
    xla::XlaComputation computation;
    TFAOT_TRY(checked(
        xla::ParseMlirModuleStringAndConvertToXlaComputation(text, computation, false, true)));
    TFAOT_ASSIGN(const auto made, make_module(computation.proto()));
    const xla::HloInstruction* const results = made->entry_computation()->root_instruction();
    Evaluator evaluator(
        [](const xla::HloInstruction&) { return fail(Error::internal("no constant has inputs")); });
    for (std::size_t i = 0; i < constants.size(); ++i) {
      const auto* const result = results->operand(static_cast<std::int64_t>(i));
      TFAOT_ASSIGN(const Value value, evaluator.value(*result));
      small_[constants[i]] = std::make_shared<xla::Literal>(value->Clone());
    }
    return {};
  }

  const StableHloModule& module_;
  mutable std::map<std::size_t, Value> small_;
};

constexpr std::size_t kNowhere = std::string_view::npos;

// True for characters of names and numbers in MLIR.
bool is_word(char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '$'; }

// The end of the name or number at `at`.
std::size_t after_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

// The end of the quoted text at `at`.
std::size_t after_quotes(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

bool opens(char c) { return c == '(' || c == '[' || c == '{' || c == '<'; }
// The '>' of "->" closes nothing.
bool closes(std::string_view text, std::size_t at) {
  const char c = text[at];
  return c == ')' || c == ']' || c == '}' || (c == '>' && !text.substr(0, at).ends_with('-'));
}

// The end of the brackets that open at `at`.
std::size_t after_brackets(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = after_quotes(text, at);
      continue;
    }
    if (opens(text[at])) ++depth;
    if (closes(text, at) && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

// The text between the brackets at `at`.
std::string_view inside(std::string_view text, std::size_t at) {
  const std::size_t end = after_brackets(text, at);
  return end < at + 2 ? std::string_view() : text.substr(at + 1, end - at - 2);
}

// Splits at commas outside brackets.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  std::size_t at = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view part = absl::StripAsciiWhitespace(text.substr(start, end - start));
    if (!part.empty()) parts.push_back(part);
    start = end + 1;
  };
  while (at < text.size()) {
    if (text[at] == ',') add(at);
    at = text[at] == '"'   ? after_quotes(text, at)
         : opens(text[at]) ? after_brackets(text, at)
                           : at + 1;
  }
  add(text.size());
  return parts;
}

// "f32" for "!vhlo.f32_v1".
std::string element_name(std::string_view text) {
  constexpr std::string_view kVersioned = "!vhlo.";
  if (!text.starts_with(kVersioned)) return std::string(text);
  text.remove_prefix(kVersioned.size());
  text = text.substr(0, text.rfind("_v"));
  return text == "bool" ? "i1" : std::string(text);
}

// The sizes of "tensor<?x16xELEMENT>", with -1 for "?"; nothing if the text does not start like
// this. `rest`: becomes the text after the sizes.
std::optional<std::vector<std::int64_t>> sizes_before(std::string_view type,
                                                      std::string_view& rest) {
  rest = type;
  if (!absl::ConsumePrefix(&rest, "tensor<") && !absl::ConsumePrefix(&rest, "!vhlo.tensor_v1<"))
    return std::nullopt;
  std::vector<std::int64_t> sizes;
  while (!rest.empty() && (rest.front() == '?' || is_digit(rest.front()))) {
    const bool is_open = rest.front() == '?';
    const std::size_t end =
        is_open ? 1 : std::min(rest.find_first_not_of("0123456789"), rest.size());
    std::int64_t size = -1;
    if (!is_open && !absl::SimpleAtoi(rest.substr(0, end), &size)) return std::nullopt;
    rest.remove_prefix(end);
    if (!absl::ConsumePrefix(&rest, "x")) return std::nullopt;
    sizes.push_back(size);
  }
  return sizes;
}

// The type as a tensor; nothing if it has encodings or the like, or is no tensor at all.
std::optional<TensorText> tensor_in(std::string_view type) {
  std::string_view rest;
  auto sizes = sizes_before(type, rest);
  if (!sizes) return std::nullopt;
  TensorText tensor{std::move(*sizes), element_name(rest.substr(0, rest.rfind('>')))};
  return std::ranges::all_of(tensor.element, is_word) ? std::optional(tensor) : std::nullopt;
}

// The number of elements of a tensor type, at most `most` + 1; 1 for other texts.
std::int64_t elements_of_type(std::string_view type, std::int64_t most) {
  std::int64_t elements = 1;
  std::string_view rest;
  for (const std::int64_t size : sizes_before(type, rest).value_or(std::vector<std::int64_t>())) {
    if (size == 0) return 0;
    if (size > 0) elements = size > most / elements ? most + 1 : elements * size;
    if (elements > most) break;
  }
  return elements;
}

// The number of elements of a constant beyond the length of its text: it repeats one.
std::int64_t made_elements(std::string_view text, std::size_t dense) {
  const std::size_t end = after_brackets(text, text.find('<', dense));
  constexpr std::string_view kColon = " : ";
  if (!text.substr(end).starts_with(kColon)) return 0;
  const std::int64_t all = elements_of_type(text.substr(end + kColon.size()), kMostTensorElements);
  return std::max<std::int64_t>(0, all - static_cast<std::int64_t>(end - dense));
}

constexpr const char* kVersionedFunction = "vhlo.func_v1 ";

// True if the name after '@' at `at` is that of a function definition.
bool defines_function(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(0, at);
  return std::ranges::any_of(
      std::array{"func.func ", "func.func public ", "func.func private ", kVersionedFunction},
      [&](std::string_view start) { return head.ends_with(start); });
}

// The names of all functions, in the text's order.
std::vector<std::string> function_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find('@'); at != kNowhere; at = text.find('@', at + 1)) {
    const std::size_t end = after_word(text, at + 1);
    if (!defines_function(text, at) || !text.substr(end).starts_with('(')) continue;
    names.emplace_back(text.substr(at + 1, end - at - 1));
  }
  return names;
}

struct TextFunction {
  std::int64_t lines = 0;
  std::vector<std::string_view> called;
};

// The functions of a text, with the names of functions that each mentions.
std::map<std::string_view, TextFunction> functions_in(std::string_view text) {
  std::map<std::string_view, TextFunction> functions;
  TextFunction* inside = nullptr;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' && inside != nullptr) ++inside->lines;
    const bool is_quoted = text[at] == '"';
    if (!is_quoted && text[at] != '@') continue;
    const std::size_t end = is_quoted ? after_quotes(text, at) : after_word(text, at + 1);
    const std::string_view name = text.substr(at + 1, end - at - (is_quoted ? 2 : 1));
    if (!is_quoted && defines_function(text, at)) {
      inside = &functions[name];
    } else if (inside != nullptr && (!is_quoted || text.substr(0, at).ends_with("string_v1<"))) {
      inside->called.push_back(name);
    }
    at = end - 1;
  }
  return functions;
}

// Errors: recursive functions, or too many lines after inlining.
Status check_calls_in(const std::string& file, std::string_view text) {
  auto functions = functions_in(text);
  std::vector<std::string_view> names;
  for (auto& [name, function] : functions) {
    names.push_back(name);
    std::erase_if(function.called, [&](std::string_view one) { return !functions.contains(one); });
  }
  const auto calls =
      post_order(names, [&](std::string_view name) { return functions.at(name).called; });
  if (!calls.cycle.empty()) {
    return fail(
        Error::at({file}, fmt::format("the function '{}' calls itself", calls.cycle.front()))
            .note("a loop is an operation 'stablehlo.while'"));
  }
  std::map<std::string_view, int> nested;
  for (const std::string_view name : calls.order) {
    TextFunction& function = functions.at(name);
    for (const std::string_view called : function.called) {
      function.lines += functions.at(called).lines;
      nested[name] = std::max(nested[name], nested[called] + 1);
    }
    if (nested[name] > kMostNestedCalls) {
      return fail(Error::at(
          {file}, fmt::format("more than {} functions call each other", kMostNestedCalls)));
    }
    if (!function.called.empty() && function.lines > kMostWrittenOperations) {
      return fail(Error::at(
          {file},
          fmt::format("with its calls written out, the function '{}' has more than {} operations",
                      name, kMostWrittenOperations)));
    }
  }
  return {};
}

// The place at which a text exceeds a limit.
struct Excess {
  std::size_t at = 0;
  std::string what;
};

std::optional<Excess> excess_in(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = after_quotes(text, at) - 1;
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (closes(text, at)) {
      --depth;
    } else if (opens(c) && ++depth > kMostBrackets) {
      return Excess{at, fmt::format("has more than {} brackets in each other", kMostBrackets)};
    }
    if (elements_of_type(text.substr(std::min(at, text.size())), kMostTensorElements) >
        kMostTensorElements) {
      return Excess{at, fmt::format("has a tensor of more than {} elements", kMostTensorElements)};
    }
  }
  return std::nullopt;
}

// Checks the text that XLA printed: constants that repeat one number, and calls of functions.
Status check_contents(const std::string& file, std::string_view text) {
  if (const auto excess = excess_in(text)) return fail(Error::at({file}, excess->what));
  constexpr std::string_view kDense = "dense<";
  std::int64_t made = 0;
  for (std::size_t at = text.find(kDense); at != kNowhere; at = text.find(kDense, at + 1)) {
    made += made_elements(text, at);
    if (made <= kMostRepeatedElements) continue;
    return fail(Error::at({file}, fmt::format("constants that repeat one number have more than {} "
                                              "elements",
                                              kMostRepeatedElements))
                    .note("a 'stablehlo.broadcast_in_dim' of the number takes no memory"));
  }
  return check_calls_in(file, text);
}

// The first text in quotes after `at`.
std::string quoted_after(std::string_view text, std::size_t at) {
  const std::size_t start = text.find('"', at);
  if (start == kNowhere) return "";
  const std::size_t end = after_quotes(text, start);
  return std::string(text.substr(start + 1, end - start - 2));
}

// The value of a text attribute: 'key = "value"', or the same in VHLO.
std::string attribute(std::string_view attributes, std::string_view key) {
  const std::size_t found = attributes.find(key);
  if (found == kNowhere) return "";
  const std::size_t value = attributes.find('=', found + key.size());
  return value == kNowhere ? "" : quoted_after(attributes, value);
}

// Converts a path in Python, such as "events['muon'].pt", to a name: its keys, or else its first
// word.
std::string name_of_path(std::string_view path) {
  std::string start;
  std::string keys;
  std::size_t at = 0;
  while (at < path.size()) {
    const bool is_key = path[at] == '[' || path[at] == '.' || path[at] == '\'';
    const bool is_quoted = at > 0 && path[at - 1] == '\'';
    const bool is_field = at > 0 && path[at - 1] == '.';
    if (is_key || !is_word(path[at]) || path[at] == '$') {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < path.size() && is_word(path[end]) && path[end] != '.' && path[end] != '$') ++end;
    const std::string_view word = path.substr(at, end - at);
    if (is_quoted || is_field) keys += (keys.empty() ? "" : "_") + std::string(word);
    if (at == 0 && !is_digit(word.front())) start = word;
    at = end;
  }
  return keys.empty() ? start : keys;
}

// Named locations: '#loc4 = loc("x")' maps "#loc4" to the text after the bracket.
using Locations = std::map<std::string_view, std::string_view>;
Locations named_locations(std::string_view text) {
  constexpr std::string_view kStart = "\n#";
  constexpr std::string_view kEqual = " = loc(";
  Locations named;
  for (std::size_t at = text.find(kStart); at != kNowhere; at = text.find(kStart, at + 1)) {
    const std::size_t end = after_word(text, at + kStart.size());
    if (!text.substr(end).starts_with(kEqual)) continue;
    named.emplace(text.substr(at + 1, end - at - 1), text.substr(end + kEqual.size()));
  }
  return named;
}

// The name of the location after a value: loc("x"), or loc(#loc4).
std::string location_name(const Locations& locations, std::string_view value) {
  const std::size_t found = value.rfind(" loc(");
  if (found == kNowhere) return "";
  std::string_view place = value.substr(found + 5);
  const auto named = locations.find(place.substr(0, place.find(')')));
  if (named != locations.end()) place = named->second;
  if (!place.starts_with('"')) return "";
  const std::string path = quoted_after(place, 0);
  return path.find('/') == std::string::npos ? path : "";  // not of an operation
}

// True for "arg0" and "0", which XLA and JAX invent.
bool is_made_up(std::string_view variable) {
  if (variable.starts_with("arg")) variable.remove_prefix(3);
  return std::ranges::all_of(variable, is_digit);
}

// Reads "%x: TYPE {ATTRIBUTES} loc(...)", or a result, which lacks "%x: ".
FunctionValue value_in(const Locations& locations, std::string_view part) {
  FunctionValue value;
  std::string_view rest = part;
  const std::size_t colon = rest.find(':');
  const std::string_view variable = rest.starts_with('%') ? rest.substr(1, colon - 1) : "";
  if (!variable.empty() && colon != kNowhere)
    rest = absl::StripAsciiWhitespace(rest.substr(colon + 1));
  const std::size_t open = rest.find_first_of("<{ ");
  const std::size_t end = open != kNowhere && rest[open] == '<' ? after_brackets(rest, open) : open;
  value.type = absl::StripAsciiWhitespace(rest.substr(0, end));
  value.tensor = tensor_in(value.type);
  const std::string_view attributes = end == kNowhere ? std::string_view() : rest.substr(end);
  value.global_constant = attribute(attributes, "jax.global_constant");
  for (const std::string_view size : split_list(attribute(attributes, "tfaot.sizes"))) {
    value.sizes.emplace_back(size);
  }
  value.name = attribute(attributes, "tfaot.name");
  if (!value.name.empty()) return value;
  std::string path = attribute(attributes, "jax.result_info");
  if (path.starts_with("result")) path.erase(0, std::string_view("result").size());
  value.name = name_of_path(path.empty() ? location_name(locations, part) : path);
  if (value.name.empty() && !is_made_up(variable)) value.name = name_of_path(variable);
  return value;
}

std::vector<FunctionValue> values_in(const Locations& locations, std::string_view list) {
  return mapped(split_list(list), [&](std::string_view part) { return value_in(locations, part); });
}

// Adds attributes that VHLO writes after the function: {arg_attrs = #vhlo.array_v1<[...]>}.
void add_attributes(std::string_view attributes, std::string_view key,
                    std::vector<FunctionValue>& values) {
  const std::size_t found = attributes.find(key);
  const std::size_t list = found == kNowhere ? kNowhere : attributes.find('[', found);
  if (list == kNowhere) return;
  const auto parts = split_list(inside(attributes, list));
  for (std::size_t i = 0; i < std::min(parts.size(), values.size()); ++i) {
    const FunctionValue of_attributes = value_in({}, fmt::format("x {}", parts[i]));
    if (!of_attributes.name.empty()) values[i].name = of_attributes.name;
    values[i].sizes = of_attributes.sizes;
    values[i].global_constant = of_attributes.global_constant;
  }
}

// "stablehlo.add" for "vhlo.add_v1".
std::string operation_name(std::string_view dialect, std::string_view name) {
  if (dialect != "vhlo") return fmt::format("{}.{}", dialect, name);
  return fmt::format("stablehlo.{}", name.substr(0, name.rfind("_v")));
}

bool is_weight(const TensorText& tensor) {
  return is_weight_constant(dtype_of(type_of_text(tensor.element)), tensor.sizes);
}

// The text around "dense<...> : tensor<...>" in a constant's operation, and that of the call which
// replaces it.
struct ConstantForm {
  std::string_view head;
  std::string_view tail;
  std::string_view call_head;
  std::string_view call_tail;
  std::string_view type_head;  // of the result, if the call has to say it
};
constexpr std::array kForms = {
    ConstantForm{"stablehlo.constant ", "", "stablehlo.custom_call @", "() : () -> ", "tensor<"},
    ConstantForm{"\"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<", ">}> ",
                 "\"vhlo.custom_call_v1\"() <{api_version = #vhlo<api_version_v1 "
                 "API_VERSION_ORIGINAL>, backend_config = #vhlo.string_v1<\"\">, call_target_name "
                 "= #vhlo.string_v1<\"",
                 "\">, called_computations = #vhlo.array_v1<[]>, has_side_effect = "
                 "#vhlo.bool_v1<false>, operand_layouts = #vhlo.array_v1<[]>, "
                 "output_operand_aliases = #vhlo.array_v1<[]>, result_layouts = "
                 "#vhlo.array_v1<[]>}> ",
                 ""},
};

struct FoundConstant {
  ConstantText constant;
  std::size_t end = 0;    // of the operation, as far as the form goes
  std::string_view type;  // "tensor<...>"
};

std::optional<FoundConstant> constant_at(std::string_view text, std::size_t at,
                                         const ConstantForm& form) {
  FoundConstant found;
  found.constant.value = at + form.head.size();
  constexpr std::string_view kDense = "dense<";
  constexpr std::string_view kColon = " : ";
  if (!text.substr(found.constant.value).starts_with(kDense)) return std::nullopt;
  const std::size_t end = after_brackets(text, found.constant.value + kDense.size() - 1);
  found.constant.size = end - found.constant.value;
  const std::size_t type = std::min(end + kColon.size(), text.size());
  if (!text.substr(end).starts_with(kColon) || !text.substr(type).starts_with("tensor<"))
    return std::nullopt;
  const std::size_t after_type = after_brackets(text, type + 6);
  found.type = text.substr(type, after_type - type);
  const auto tensor = tensor_in(found.type);
  if (!text.substr(after_type).starts_with(form.tail) || !tensor || !is_weight(*tensor))
    return std::nullopt;
  found.constant.type = *tensor;
  found.end = after_type + form.tail.size();
  return found;
}

constexpr const char* kModuleLabel = "the module";
constexpr const char* kFunction = "tfaot_stablehlo";
// Version of XlaCallModule's interface. Later versions resolve open sizes only if JAX has marked
// the module; their other additions are for effects, which are refused, and for several devices.
constexpr std::int64_t kCallingConvention = 7;

// "constant_3": equal in all modules that a program exports.
std::string constant_name(std::size_t constant) { return fmt::format("constant_{}", constant); }

// A function that calls the module.
tf::FunctionDef calling_function(const StableHloModule& module,
                                 const std::vector<ModelTensor>& inputs,
                                 const std::vector<ModelTensor>& outputs) {
  const std::vector<std::string> none;
  std::vector<std::string> arguments;
  std::vector<std::string> results;
  std::vector<std::pair<std::string, std::string>> returned;
  tf::FunctionDefHelper::Node call;
  for (const ModelTensor& input : inputs) {
    call.arg.push_back(fmt::format("x{}", call.arg.size()));
    arguments.push_back(call.arg.back() + ": " + tf::DataTypeString(input.type));
  }
  for (const ModelTensor& output : outputs) {
    returned.emplace_back(fmt::format("y{}", returned.size()),
                          fmt::format("call:output:{}", returned.size()));
    results.push_back(returned.back().first + ": " + tf::DataTypeString(output.type));
  }
  call.ret = {"call"};
  call.op = "XlaCallModule";
  call.attr = {
      {"version", kCallingConvention},
      {"module", module.text},
      {"has_token_input_output", false},
      {"Tin", mapped(inputs, &ModelTensor::type)},
      {"Tout", mapped(outputs, &ModelTensor::type)},
      {"Sout", std::vector<tf::PartialTensorShape>(outputs.size())},
      {"platforms", module.platforms.empty() ? std::vector<std::string>{"CPU"} : module.platforms},
      {"dim_args_spec", none},
      {"disabled_checks", none},
      {"function_list", std::vector<tf::NameAttrList>()}};
  return tf::FunctionDefHelper::Create(kFunction, arguments, results, {}, {call}, returned);
}

class StableHloLowering final : public SignatureLowering {
 public:
  StableHloLowering(const StableHloModule& module, const std::vector<ModelTensor>& inputs,
                    const std::vector<ModelTensor>& outputs, const LoweringOptions& options)
      : SignatureLowering(inputs, outputs, options.fixed_shapes),
        values_(std::make_shared<ConstantValues>(module)) {
    *library_.add_function() = calling_function(module, inputs, outputs);
    for (std::size_t i = 0; i < module.constants.size(); ++i) {
      shapes_.push_back(shape_of_constant(module, i));
      if (options.embed_weights) continue;
      weights_.push_back(
          {constant_name(i), shapes_.back(), [values = values_, i] { return values->value(i); }});
    }
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(), library_);
    TFAOT_ASSIGN(const auto arguments, input_arguments(batch_size));
    TFAOT_ASSIGN(const auto compiled,
                 compile_function(
                     {library, kFunction, TF_GRAPH_DEF_VERSION}, arguments, [](const auto& status) {
                       return error_of(status, fmt::format("XLA cannot compile {}", kModuleLabel))
                           .about(word_of(ProblemKind::kCompiler), {});
                     }));
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    TFAOT_ASSIGN(const auto operands, parameters(builder, batch_size));
    CalledConstants constants{shapes_, [this](std::size_t i) { return values_->value(i); }, {}};
    if (!weights_.empty()) constants.parameter = std::ssize(inputs_);
    TFAOT_ASSIGN(LoweredModel lowered,
                 calling(builder, compiled, operands, constants, kModuleLabel));
    return finished(std::move(lowered), batch_size);
  }

 private:
  std::shared_ptr<const ConstantValues> values_;
  tf::FunctionDefLibrary library_;
  std::vector<xla::Shape> shapes_;  // of the constants
};

// Replaces the time limit, which the interpreter lacks.
constexpr std::int64_t kMostTurns = 1'000'000;  // of a loop

class InterpretedProgram final : public OriginalProgram {
 public:
  static Result<std::unique_ptr<OriginalProgram>> load(const JobModel& job,
                                                       std::int64_t batch_size) {
    std::unique_ptr<InterpretedProgram> program(new InterpretedProgram);
    TFAOT_ASSIGN(program->source_, load_stablehlo_source(job));
    TFAOT_TRY(program->source_->prepare());
    LoweringOptions options;
    options.fixed_shapes = job.fixed_shapes;
    options.embed_weights = true;
    TFAOT_ASSIGN(program->lowering_, program->source_->lowering(options));
    TFAOT_ASSIGN(auto lowered, program->lowering_->lower(batch_size));
    program->signature_ = {job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)};
    program->has_batch_ = !job.fixed_shapes;
    if (program->lowering_->has_fixed_batch()) program->fixed_rows_ = batch_size;
    return program;
  }

  std::string name() const override {
    return std::string("the interpreter of XLA, tensorflow ") + TF_VERSION_STRING;
  }
  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds /*limit*/) override {
    TFAOT_TRY(prepare(has_batch_ ? inputs.front().dim_size(0) : 1));
    std::vector<xla::Literal> literals;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      // In the module's shape: with fixed shapes it has one more dimension, for rows.
      const xla::BorrowingLiteral input(static_cast<const char*>(inputs[i].data()),
                                        module_->entry_computation()
                                            ->parameter_instruction(static_cast<std::int64_t>(i))
                                            ->shape());
      literals.push_back(input.Clone());
    }
    xla::HloEvaluator evaluator(kMostTurns);
    evaluator.set_use_fast_path(true);
    auto made = evaluator.Evaluate(*module_, absl::Span<const xla::Literal>(literals));
    if (!made.ok()) return fail(Error(std::string(made.status().message())));
    std::vector<tensorflow::Tensor> outputs;
    for (const xla::Literal& literal : made->DecomposeTuple()) {
      tensorflow::Tensor tensor;
      const auto type = tensorflow_type(literal.shape().element_type());
      TFAOT_TRY(checked(tensorflow::LiteralToHostTensor(literal, type, &tensor)));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

 private:
  InterpretedProgram() = default;

  Status prepare(std::int64_t rows) {
    if (rows == rows_) return {};
    TFAOT_ASSIGN(const auto lowered, lowering_->lower(rows));
    TFAOT_ASSIGN(module_, make_module(lowered.computation.proto()));
    TFAOT_TRY(inline_calls(*module_));  // the interpreter takes no fast path inside of calls
    xla::TopkDecomposer decomposer;     // the interpreter has no top k
    TFAOT_TRY(checked(decomposer.Run(module_.get(), {}).status()));
    rows_ = rows;
    return {};
  }

  std::unique_ptr<SourceModel> source_;
  std::unique_ptr<Lowering> lowering_;
  bool has_batch_ = true;
  std::unique_ptr<xla::HloModule> module_;
  std::int64_t rows_ = 0;  // of the module
};

// Uses the module's names if they are unique, else "input_0".
std::vector<ModelTensor> model_tensors(const std::vector<FunctionValue>& values, const char* kind) {
  std::vector<ModelTensor> tensors;
  std::set<std::string> names;
  for (const FunctionValue& value : values) {
    ModelTensor& tensor = tensors.emplace_back();
    tensor.name = value.name.empty() ? fmt::format("{}_{}", kind, tensors.size() - 1) : value.name;
    names.insert(tensor.name);
    if (!value.tensor) continue;
    tensor.type = tensorflow_type(type_of_text(value.tensor->element));
    tensor.rank_known = true;
    for (std::size_t i = 0; i < value.tensor->sizes.size(); ++i) {
      add_dimension(tensor, value.tensor->sizes[i], i < value.sizes.size() ? value.sizes[i] : "");
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (names.size() < tensors.size()) tensors[i].name = fmt::format("{}_{}", kind, i);
    tensors[i].tensor = tensors[i].name;
  }
  return tensors;
}

// Errors: the file cannot be read, is none of the three kinds, or too new for XLA.
Result<StableHloModule> read_stablehlo(const std::string& file) {
  StableHloModule module;
  TFAOT_ASSIGN(const std::string bytes, RealFileSystem().read(file));
  TFAOT_ASSIGN(const JaxExport around, read_any(file, bytes, module));
  TFAOT_TRY(check_contents(file, module.whole));
  auto main = find_function(module.whole, "main");
  if (!main) {
    const auto names = function_names(module.whole);
    const std::string others =
        names.empty() ? "" : "; it has " + absl::StrJoin(names, ", ", absl::StreamFormatter());
    return fail(Error::at({file}, "has no function 'main'" + others)
                    .note("give that name to the function whose arguments are the model's inputs "
                          "and whose results are the outputs"));
  }
  module.main = own_arguments(std::move(*main));
  // XLA's text renames arguments, and may have lost their locations.
  if (is_printable(bytes)) add_names(find_function(bytes, "main"), module.main);
  // JAX passes the arguments to the real function, which has their names.
  add_names(find_function(module.whole, "_wrapped_jax_export_main"), module.main);
  for (std::size_t i = 0; i < std::min(around.shapes.size(), module.main.arguments.size()); ++i) {
    module.main.arguments[i].sizes.assign(around.shapes[i].begin(), around.shapes[i].end());
  }
  if (around.platforms.size() > 1) {
    for (const auto& one : around.platforms) module.platforms.push_back(absl::AsciiStrToUpper(one));
  }
  LiftedText lifted = lift_constants(module.whole);
  module.text = std::move(lifted.text);
  module.constants = std::move(lifted.constants);
  return module;
}

class StableHloSource final : public SourceModel {
 public:
  explicit StableHloSource(StableHloModule module) : module_(std::move(module)) {
    inputs_ = model_tensors(module_.main.arguments, "input");
    outputs_ = model_tensors(module_.main.results, "output");
  }
  Status take_sizes(const JobModel& job) { return set_open_sizes(inputs_, job); }

  // Nodes have no names, as authors do not know the module's lines.
  std::vector<CheckedOperation> operations() const override {
    return mapped(operation_counts(), [](const auto& counted) {
      const auto& [name, count] = counted;
      CheckedOperation row;
      row.operation = name;
      row.nodes.resize(static_cast<std::size_t>(count));
      const bool is_structure = name == "stablehlo.while" || name == "stablehlo.case" ||
                                name == "stablehlo.if" || name == "stablehlo.composite";
      if (is_structure) row.support = OperationSupport::kStructure;
      return row;
    });
  }

  Status prepare() override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const FunctionValue& value = module_.main.arguments[i];
      if (!value.tensor) {
        return fail(Error(fmt::format("input '{}' is of type {}", inputs_[i].name, value.type))
                        .note("an input is a tensor of a known number of dimensions, of real "
                              "numbers, whole numbers or truth values"));
      }
    }
    return {};
  }

  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    TFAOT_TRY(
        check_signature(kModuleLabel, inputs_, outputs_, {.fixed_shapes = options.fixed_shapes}));
    return std::make_unique<StableHloLowering>(module_, inputs_, outputs_, options);
  }

  std::vector<Variable> variables() const override {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < module_.constants.size(); ++i) {
      const TensorText& type = module_.constants[i].type;
      variables.push_back(
          {constant_name(i), type_name(tensorflow_type(type_of_text(type.element))), type.sizes});
    }
    return variables;
  }

  std::map<std::string, std::int64_t> operation_counts() const override {
    return count_operations(module_.whole);
  }

 private:
  StableHloModule module_;
};

}  // namespace

std::optional<JaxExport> read_jax_export(std::string_view bytes) {
  const auto exported = FlatTable::root(bytes);
  if (!exported) return std::nullopt;
  const auto module = exported->text(kModule);
  auto platforms = short_texts(*exported, kPlatforms, kMostPlatforms);
  if (!module || module->empty() || !platforms) return std::nullopt;
  JaxExport read{*module, std::move(*platforms), {}};
  const auto shapes = input_shapes(*exported);
  if (!shapes) return std::nullopt;
  const auto kept = exported->numbers<std::uint16_t>(kKeptInputs);
  if (!kept) return read;  // no arguments
  if (kept->size() > kMostTensors) return std::nullopt;
  for (const std::uint32_t input : *kept) {
    if (input >= shapes->size()) return std::nullopt;
    auto sizes = short_texts((*shapes)[input], kSizes, kMostDimensions);
    if (!sizes) return std::nullopt;
    read.shapes.push_back(std::move(*sizes));
  }
  return read;
}

Status check_sizes(const std::string& file, std::string_view text) {
  const auto excess = excess_in(text);
  if (!excess) return {};
  const int line = line_at(text, static_cast<std::ptrdiff_t>(excess->at));
  return fail(Error::at({file, line, 0}, excess->what));
}

std::optional<FunctionText> find_function(std::string_view text, std::string_view name) {
  const std::string called = fmt::format("@{}(", name);
  for (std::size_t at = text.find(called); at != kNowhere; at = text.find(called, at + 1)) {
    if (!defines_function(text, at)) continue;
    FunctionText function;
    const Locations locations = named_locations(text);
    const std::size_t open = at + called.size() - 1;
    function.arguments = values_in(locations, inside(text, open));
    std::size_t next = after_brackets(text, open);
    if (text.substr(next).starts_with(" -> ")) {
      next += 4;
      const std::string_view rest = text.substr(next);
      if (rest.starts_with('(')) {
        function.results = values_in(locations, inside(text, next));
        next = after_brackets(text, next);
      } else {
        function.results = {value_in(locations, rest.substr(0, rest.find(" {")))};
      }
    }
    const std::size_t body = text.find('{', next);
    if (text.substr(0, at).ends_with(kVersionedFunction) && body != kNowhere) {
      const std::size_t behind = after_brackets(text, body);
      if (text.substr(behind).starts_with(" {")) {
        const std::string_view attributes = inside(text, behind + 1);
        add_attributes(attributes, "arg_attrs", function.arguments);
        add_attributes(attributes, "res_attrs", function.results);
      }
    }
    return function;
  }
  return std::nullopt;
}

std::string without_locations(std::string_view text) {
  constexpr std::string_view kLocation = "loc(";
  std::string kept;
  std::size_t at = 0;
  const auto drop = [&](std::size_t end) {
    kept.append(
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
        '\n');
    at = end;
  };
  while (at < text.size()) {
    const bool starts_word = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '%' &&
                                         text[at - 1] != '@' && text[at - 1] != '#');
    const bool starts_line = at == 0 || text[at - 1] == '\n';
    if (text[at] == '"') {
      const std::size_t end = after_quotes(text, at);
      kept += text.substr(at, end - at);
      at = end;
    } else if (starts_line && text.substr(at).starts_with("#loc")) {
      const std::size_t open = text.find('(', at);
      drop(open == kNowhere ? text.size() : after_brackets(text, open));
    } else if (starts_word && text.substr(at).starts_with(kLocation)) {
      while (!kept.empty() && kept.back() == ' ') kept.pop_back();
      drop(after_brackets(text, at + kLocation.size() - 1));
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

std::map<std::string, std::int64_t> count_operations(std::string_view text) {
  constexpr std::array<std::string_view, 3> kDialects = {"stablehlo", "chlo", "vhlo"};
  constexpr std::array<std::string_view, 4> kNoOperations = {"func", "return", "call", "constant"};
  std::map<std::string, std::int64_t> counts;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = after_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    const std::string_view dialect = word.substr(0, word.find('.'));
    const bool is_first = at == 0 || text[at - 1] == ' ' || text[at - 1] == '"';
    if (is_first && dialect.size() < word.size() && contains(kDialects, dialect)) {
      const std::string name = operation_name(dialect, word.substr(dialect.size() + 1));
      const std::string_view last = std::string_view(name).substr(name.find('.') + 1);
      if (!contains(kNoOperations, last)) ++counts[name];
      at = text.substr(end).starts_with('"') ? end + 1 : end;  // of the operation's name
      continue;
    }
    const std::string_view quoted = text.substr(std::min(at + 1, text.size()));
    const bool is_text =
        text[at] == '"' && !quoted.starts_with("vhlo.") && !quoted.starts_with("stablehlo.");
    at = is_text ? after_quotes(text, at) : std::max(at + 1, end);
  }
  return counts;
}

LiftedText lift_constants(std::string_view text) {
  LiftedText lifted;
  std::size_t done = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto* const form = std::ranges::find_if(kForms, [&](const ConstantForm& one) {
      return text[at] == one.head.front() && text.substr(at).starts_with(one.head);
    });
    const auto found = form == kForms.end() ? std::nullopt : constant_at(text, at, *form);
    if (!found) {
      at = text[at] == '"' ? after_quotes(text, at) : at + 1;
      continue;
    }
    lifted.text += text.substr(done, at - done);
    lifted.text += form->call_head;
    lifted.text += constant_call(lifted.constants.size());
    lifted.text += form->call_tail;
    if (!form->type_head.empty()) lifted.text += found->type;
    lifted.constants.push_back(found->constant);
    at = done = found->end;
  }
  lifted.text += text.substr(done);
  return lifted;
}

Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const JobModel& job,
                                                                  std::int64_t batch_size) {
  return InterpretedProgram::load(job, batch_size);
}

Result<ModelFunctions> stablehlo_functions(const std::string& file) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(file));
  return one_function(std::move(module.producer), ModelFormat::kStableHlo, file);
}

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const JobModel& job) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(job.source));
  auto source = std::make_unique<StableHloSource>(std::move(module));
  TFAOT_TRY(source->take_sizes(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
