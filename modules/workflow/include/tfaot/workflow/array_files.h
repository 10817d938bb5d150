// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of models in files: .npz, .npy or .csv, by the file's name.
#pragma once

#include <optional>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/arrays/fill.h"
#include "tfaot/arrays/match_inputs.h"
#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

enum class ArrayFormat { kNpz, kNpy, kCsv };
template <>
inline constexpr auto kWords<ArrayFormat> = std::to_array<Word<ArrayFormat>>(
    {{ArrayFormat::kNpz, ".npz"}, {ArrayFormat::kNpy, ".npy"}, {ArrayFormat::kCsv, ".csv"}});

/// Error: the name ends with none of them.
Result<ArrayFormat> array_format(const Path& file);

/// Where a model's inputs come from.
struct InputSource {
  Path file;                           ///< absolute; empty: they are made
  Filling filling = Filling::kRandom;  ///< of inputs that are made
  std::optional<std::int64_t> rows;    ///< of inputs that are made; empty: 1
  std::uint64_t seed = 1;              ///< of random inputs
};
/// The inputs of a model, in its order: those that are made and those of a .csv at the largest
/// sizes. Error: the file cannot be read, or does not fit the model.
Result<ModelInputs> model_inputs(const FileSystem& files, const InputSource& source,
                                 const WantedInputs& inputs);

/// Outputs that were saved, of any type and shape. A .csv has all; of a .npz those with an output's
/// name have elements; a .npy has one without a name.
Result<std::vector<Array>> read_outputs(const FileSystem& files, const Path& file,
                                        const std::vector<TensorSpec>& outputs);

/// Error: so many rows of all tensors need more memory than arrays may have (limits.h).
Status check_row_count(std::int64_t rows, const std::vector<TensorSpec>& tensors);

/// Error: not all tensors can go into such a file. To be asked before the work.
Status check_array_file(const Path& file, const std::vector<TensorSpec>& tensors);
/// Writes the file in one step. REQUIRES: check_array_file() passed.
Status write_arrays(FileSystem& files, const Path& file, const std::vector<Array>& arrays);

}  // namespace tfaot::toolkit
