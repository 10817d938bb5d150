// SPDX-License-Identifier: Apache-2.0
#include "saved_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/array_files.h"

namespace tfaot::toolkit {
namespace {

class SavedReference final : public Reference {
 public:
  SavedReference(std::string program, Signature signature, std::vector<Array> outputs)
      : answers_{std::move(program), std::move(signature), {}}, outputs_(std::move(outputs)) {}

  Result<ReferenceAnswers> predict(const std::vector<const ModelInputs*>& batches) override {
    ReferenceAnswers answers = answers_;
    for (const ModelInputs* batch : batches) {
      ReferenceAnswer& answer = answers.answers.emplace_back();
      for (const Array& output : outputs_) answer.outputs.push_back(repeated(output, batch->rows));
    }
    return answers;
  }

 private:
  ReferenceAnswers answers_;  // none yet
  std::vector<Array> outputs_;
};

// Gives the array of a .npy the output's name. Error: not every array is an output.
Status name_outputs(std::vector<Array>& arrays, const std::vector<TensorSpec>& outputs,
                    const std::string& where) {
  if (arrays.empty()) return fail(Error::at({where}, "the file holds no array"));
  if (arrays.size() == 1 && arrays.front().name.empty()) {
    if (outputs.size() != 1) {
      return fail(Error::at({where}, fmt::format("a .npy holds one array, and the package has {} "
                                                 "outputs",
                                                 outputs.size()))
                      .note("write a .npz: numpy.savez(file, **{name: array, ...})"));
    }
    arrays.front().name = outputs.front().name;
  }
  std::vector<std::string> names;
  for (const TensorSpec& output : outputs) names.push_back(shown(output.name));
  for (const Array& array : arrays) {
    if (std::ranges::find(outputs, array.name, &TensorSpec::name) != outputs.end()) continue;
    const auto meant = closest_match(array.name, names);
    return fail(
        Error::at({where}, fmt::format("no output '{}'{}", shown(array.name),
                                       meant ? fmt::format(" (did you mean '{}'?)", *meant) : ""))
            .note("outputs: " + join(names, ", ")));
  }
  return {};
}

Result<Array> as_output(Array array, const TensorSpec& output, std::int64_t rows,
                        const std::string& where) {
  array.name = output.name;
  const std::int64_t there = array.shape.empty() ? 0 : array.shape.front();
  if (there != rows) {
    return fail(Error::at({where}, fmt::format("output '{}' has {} rows, and the inputs have {}",
                                               shown(output.name), there, rows)));
  }
  const Array wanted = make_array(output, rows);
  if (is_real(array.dtype) && is_real(output.dtype)) array = rounded_to(array, output.dtype);
  if (array.dtype != output.dtype) {
    return fail(Error::at({where}, fmt::format("output '{}' is {} in the file, {} in the package",
                                               shown(output.name), word_of(array.dtype),
                                               word_of(output.dtype)))
                    .note(fmt::format("convert it: a.astype('{}')", word_of(output.dtype))));
  }
  if (array.bytes.size() != wanted.bytes.size()) {
    return fail(Error::at({where}, fmt::format("output '{}' has the shape {} in the file, {} in "
                                               "the package",
                                               shown(output.name), array_shape_text(array.shape),
                                               array_shape_text(wanted.shape))));
  }
  array.shape = wanted.shape;
  return array;
}

}  // namespace

Result<std::unique_ptr<Reference>> saved_reference(const FileSystem& files, const Path& file,
                                                   const Signature& signature, std::int64_t rows) {
  TFAOT_ASSIGN(std::vector<Array> arrays, read_outputs(files, file, signature.outputs));
  TFAOT_TRY(name_outputs(arrays, signature.outputs, file.string()));
  std::vector<Array> outputs;
  for (const TensorSpec& output : signature.outputs) {
    const auto found = std::ranges::find(arrays, output.name, &Array::name);
    if (found == arrays.end()) {
      outputs.push_back(make_array({output.name, output.dtype, {0}}, 1));
      continue;
    }
    TFAOT_ASSIGN(Array array, as_output(std::move(*found), output, rows, file.string()));
    outputs.push_back(std::move(array));
  }
  return std::make_unique<SavedReference>(file.filename().string(), signature, std::move(outputs));
}

}  // namespace tfaot::toolkit
