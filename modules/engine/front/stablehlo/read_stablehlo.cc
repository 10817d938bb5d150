// SPDX-License-Identifier: Apache-2.0
#include "front/stablehlo/read_stablehlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/hlo.h"
#include "tensorflow/c/tf_status.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/real_file_system.h"

// Exported by TensorFlow's library, without headers in the wheel.
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

// The longest name of a size or a platform.
constexpr std::size_t kLongestText = 1000;

// Nothing if a text is longer, or there are more.
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

// Each shape, or each different one and for each input which of them it has.
std::optional<std::vector<FlatTable>> input_shapes(const FlatTable& exported) {
  auto shapes = exported.tables(kInputShapes);
  if (shapes && !shapes->empty()) return shapes;
  const auto unique = exported.tables(kUniqueShapes);
  const auto indices = exported.numbers(kInputShapeIndices, 4);
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

// The pass that changes nothing: operations of a valid module come after those that they use.
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

// "1.7.0", of an artifact: its header ends with a zero.
std::string version_of(std::string_view artifact) {
  constexpr std::string_view kProducer = "StableHLO_v";
  const std::size_t found = artifact.substr(0, 64).find(kProducer);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = artifact.substr(found + kProducer.size());
  const auto* const end =
      std::ranges::find_if_not(rest, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return {rest.begin(), end};
}

// "-:325:55: error: expected ')'": the line, and the text without the place.
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

// Newer versions write places in Python code in another way.
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
  if (std::ranges::find(platforms, "cpu") != platforms.end()) return {};
  return fail(Error::at({file}, fmt::format("is exported for {}, not for CPUs",
                                            platforms.empty() ? "no platform" : platforms.front()))
                  .note("export it with platforms=['cpu']"));
}

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

// Without arguments that JAX passes itself: a number for the platform, and sizes.
FunctionText own_arguments(FunctionText function) {
  std::erase_if(function.arguments,
                [](const FunctionValue& value) { return !value.global_constant.empty(); });
  return function;
}

// Names that another function has for the same arguments.
void add_names(std::optional<FunctionText> other, FunctionText& main) {
  if (!other) return;
  const FunctionText own = own_arguments(std::move(*other));
  for (std::size_t i = 0; i < std::min(own.arguments.size(), main.arguments.size()); ++i) {
    if (main.arguments[i].name.empty()) main.arguments[i].name = own.arguments[i].name;
  }
}

struct MlirElement {
  std::string_view name;
  xla::PrimitiveType type;
};
constexpr auto kMlirElements = std::to_array<MlirElement>({{"i1", xla::PRED},
                                                           {"i8", xla::S8},
                                                           {"i16", xla::S16},
                                                           {"i32", xla::S32},
                                                           {"i64", xla::S64},
                                                           {"ui8", xla::U8},
                                                           {"ui16", xla::U16},
                                                           {"ui32", xla::U32},
                                                           {"ui64", xla::U64},
                                                           {"f16", xla::F16},
                                                           {"bf16", xla::BF16},
                                                           {"f32", xla::F32},
                                                           {"f64", xla::F64}});

std::string_view text_of(const StableHloModule& module, std::size_t constant) {
  const ConstantText& one = module.constants[constant];
  return std::string_view(module.whole).substr(one.value, one.size);
}

// REQUIRES: one of the module's constants, which have types that can be stored.
xla::Shape shape_of_constant(const StableHloModule& module, std::size_t constant) {
  const TensorText& type = module.constants[constant].type;
  return shape_of(type_of_text(type.element), type.sizes);
}

// XLA writes more than a hundred elements in hexadecimal: 'dense<"0x00FF...">'. Nothing for others,
// for a single element that stands for all, and for truth values, which are bits there.
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
  const auto kept = exported->numbers(kKeptInputs, 2);
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
  // XLA's text has names of its own for arguments, and may have lost their locations.
  if (is_printable(bytes)) add_names(find_function(bytes, "main"), module.main);
  // JAX hands the arguments to the real function, which has their names.
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

xla::PrimitiveType type_of_text(std::string_view element) {
  const auto* const found = std::ranges::find(kMlirElements, element, &MlirElement::name);
  return found == kMlirElements.end() ? xla::PRIMITIVE_TYPE_INVALID : found->type;
}

Result<Value> ConstantValues::value(std::size_t constant) const {
  if (const auto digits = binary_digits(module_, constant)) {
    auto literal = std::make_shared<xla::Literal>(shape_of_constant(module_, constant));
    const std::string bytes = absl::HexStringToBytes(*digits);
    std::memcpy(literal->untyped_data(), bytes.data(), bytes.size());
    return literal;
  }
  if (small_.empty()) TFAOT_TRY(read_small());
  return small_.at(constant);
}

// As the results of a module of their own.
Status ConstantValues::read_small() const {
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
  const std::string text = fmt::format(
      "module {{ func.func @main() -> ({}) {{\n{}return {} : {}\n}} }}", types, body, names, types);
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

}  // namespace tfaot::toolkit::engine
