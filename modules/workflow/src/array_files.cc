// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/array_files.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tfaot/arrays/csv.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/base/limits.h"
#include "tfaot/package/zip_file.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kNpySuffix = ".npy";

Result<std::vector<Array>> read_npz(const FileSystem& files, const Path& file) {
  TFAOT_ASSIGN(std::vector<ZipEntry> entries, read_zip(files, file, kArraysLimit.bytes));
  std::vector<Array> arrays;
  for (ZipEntry& entry : entries) {
    if (!entry.name.ends_with(kNpySuffix)) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - kNpySuffix.size());
    TFAOT_ASSIGN(Array array,
                 npy_from_bytes(entry.bytes, fmt::format("{}: {}", file.string(), entry.name)));
    array.name = name;
    entry.bytes = {};  // now it is in the array
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Result<std::vector<Array>> read_arrays(const FileSystem& files, const Path& file,
                                       const std::vector<TensorSpec>& tensors) {
  TFAOT_ASSIGN(const ArrayFormat format, array_format(file));
  if (format == ArrayFormat::kNpz) return read_npz(files, file);
  TFAOT_ASSIGN(const std::string bytes, read_limited(files, file, kArraysLimit));
  if (format == ArrayFormat::kCsv) return csv_from_text(bytes, tensors, file.string());
  TFAOT_ASSIGN(Array array, npy_from_bytes(bytes, file.string()));
  std::vector<Array> arrays;
  arrays.push_back(std::move(array));
  return arrays;
}

}  // namespace

Result<ArrayFormat> array_format(const Path& file) {
  if (const auto format = parse_word<ArrayFormat>(file.extension().string())) return *format;
  return fail(Error::at({file.string()},
                        fmt::format("the name ends with none of {}", quoted_words<ArrayFormat>())));
}

Result<ModelInputs> model_inputs(const FileSystem& files, const InputSource& source,
                                 const std::vector<TensorSpec>& inputs) {
  if (source.file.empty() || inputs.empty()) {
    const std::int64_t rows = source.rows.value_or(1);
    TFAOT_TRY(check_row_count(rows, inputs));
    return ModelInputs{
        rows,
        filled_arrays(inputs, {.filling = source.filling, .rows = rows, .seed = source.seed})};
  }
  TFAOT_ASSIGN(std::vector<Array> arrays, read_arrays(files, source.file, inputs));
  return match_inputs(std::move(arrays), inputs, source.file.string());
}

Status check_row_count(std::int64_t rows, const std::vector<TensorSpec>& tensors) {
  std::uint64_t row_bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    row_bytes += row_elements(tensor) * size_of(tensor.dtype);
  }
  if (row_bytes == 0 || static_cast<std::uint64_t>(rows) <= kArraysLimit.bytes / row_bytes) {
    return {};
  }
  return fail(Error(fmt::format("{} rows of {} bytes are more than the {} bytes that tfaot takes",
                                rows, row_bytes, kArraysLimit.bytes))
                  .note("run fewer rows at a time"));
}

Status check_array_file(const Path& file, const std::vector<TensorSpec>& tensors) {
  TFAOT_ASSIGN(const ArrayFormat format, array_format(file));
  if (format == ArrayFormat::kNpy && tensors.size() != 1) {
    return fail(Error::at({file.string()},
                          fmt::format("a .npy holds one array, and the model has {} outputs",
                                      tensors.size()))
                    .note("write a .npz"));
  }
  if (format != ArrayFormat::kCsv) return {};
  std::vector<Array> empty;
  for (const TensorSpec& tensor : tensors) empty.push_back(make_array(tensor, 0));
  const auto text = csv_to_text(empty);
  if (!text) return fail(Error(text.error()).moved_to({file.string()}));
  return {};
}

Status write_arrays(FileSystem& files, const Path& file, const std::vector<Array>& arrays) {
  TFAOT_ASSIGN(const ArrayFormat format, array_format(file));
  TFAOT_ASSIGN(const Path place, place_for_named_file(files, file));
  if (format == ArrayFormat::kCsv) {
    TFAOT_ASSIGN(const std::string text, csv_to_text(arrays));
    return files.replace_atomically(place, text);
  }
  if (format == ArrayFormat::kNpy) {
    return files.replace_atomically(place, npy_to_bytes(arrays.front()));
  }
  std::vector<ZipEntry> entries;
  for (const Array& array : arrays) {
    entries.push_back({array.name + std::string(kNpySuffix), npy_to_bytes(array)});
  }
  return write_zip(files, place, entries);
}

}  // namespace tfaot::toolkit
