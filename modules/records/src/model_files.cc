// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_files.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

struct ForeignExtension {
  std::string_view extension;
  ForeignModel model;
};

constexpr ForeignModel kKeras = {
    "a Keras file",
    "only Keras reads it: model.export('saved_model') makes a SavedModel (docs/models.md)"};
constexpr ForeignModel kTorch = {
    "a PyTorch file",
    "only PyTorch reads it: torch.onnx.export(model, inputs, 'model.onnx') makes an ONNX model "
    "(docs/models.md)"};
constexpr ForeignModel kXgboost = {
    "an XGBoost file",
    "only XGBoost reads it: onnxmltools.convert_xgboost(...) makes an ONNX model (docs/onnx.md)"};
constexpr ForeignModel kPickle = {
    "a file of Python objects",
    "only Python reads it: export the model to ONNX, as with skl2onnx.to_onnx(...) "
    "(docs/onnx.md)"};
constexpr ForeignModel kLiteRt = {"a LiteRT (TensorFlow Lite) file",
                                  "it is made from another model: give that one (docs/models.md)"};
// MLIR as text, portable artifacts, files of jax.export. The names do not matter to the engine.
constexpr std::array<std::string_view, 4> kStableHlo = {".mlir", ".mlirbc", ".stablehlo", ".jax"};
constexpr std::array kForeign = {
    ForeignExtension{".keras", kKeras},   ForeignExtension{".h5", kKeras},
    ForeignExtension{".hdf5", kKeras},    ForeignExtension{".pt", kTorch},
    ForeignExtension{".pth", kTorch},     ForeignExtension{".pt2", kTorch},
    ForeignExtension{".ubj", kXgboost},   ForeignExtension{".pkl", kPickle},
    ForeignExtension{".joblib", kPickle}, ForeignExtension{".tflite", kLiteRt},
};

// XGBoost sorts the keys of its JSON.
bool begins_as_xgboost(std::string head) {
  std::erase_if(head, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return head.starts_with("{\"learner\":{");
}

}  // namespace

std::optional<ModelFormat> format_of_file(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".onnx") return ModelFormat::kOnnx;
  if (contains(kStableHlo, extension)) return ModelFormat::kStableHlo;
  if (extension == ".pb" || extension == ".pbtxt") return ModelFormat::kFrozenGraph;
  return std::nullopt;
}

bool holds_saved_model(const FileSystem& files, const Path& folder) {
  return is_file(files, folder / "saved_model.pb") || is_file(files, folder / "saved_model.pbtxt");
}

const ForeignModel* foreign_model(const FileSystem& files, const Path& file) {
  const auto* const found =
      std::ranges::find(kForeign, file.extension().string(), &ForeignExtension::extension);
  if (found != kForeign.end()) return &found->model;
  const bool is_xgboost = begins_as_xgboost(files.read_range(file, {0, 64}).value_or(""));
  return is_xgboost ? &kXgboost : nullptr;
}

Result<Path> file_of_model(const FileSystem& files, const Path& model, const Path& file) {
  TFAOT_ASSIGN(const Path folder, real_path(files, model.parent_path()));
  TFAOT_ASSIGN(const Path own, real_path(files, model));
  TFAOT_ASSIGN(Path real, real_path(files, file));
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  const bool is_inside = end == folder.end() && rest != real.end();
  if (is_inside || real.parent_path() == own.parent_path()) return real;
  return fail(Error::at({file.string()}, "leads out of the model's folder, to " + real.string())
                  .note("if you trust the model, copy the file to where the model looks for it: cp "
                        "-rL follows links"));
}

}  // namespace tfaot::toolkit
