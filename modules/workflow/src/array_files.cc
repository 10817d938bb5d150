// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/array_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tfaot/arrays/csv.h"
#include "tfaot/arrays/match_ragged.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/package/zip_file.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kNpySuffix = ".npy";

bool is_array_name(const std::string& entry) { return entry.ends_with(kNpySuffix); }
std::string array_name(const std::string& entry) {
  return entry.substr(0, entry.size() - kNpySuffix.size());
}

// Arrays that no tensor has the name of are without elements.
Result<std::vector<Array>> read_npz(const FileSystem& files, const Path& file,
                                    const std::vector<TensorSpec>& tensors) {
  const auto wants = [&tensors](const std::string& entry) {
    if (!is_array_name(entry)) return false;
    const std::string name = array_name(entry);
    return name.empty() || contains(tensors, name, &TensorSpec::name);
  };
  TFAOT_ASSIGN(std::vector<ZipEntry> entries,
               read_zip(files, file, {.most_bytes = kArraysLimit.bytes, .wants = wants}));
  std::vector<Array> arrays;
  for (ZipEntry& entry : entries) {
    if (!is_array_name(entry.name)) continue;
    Array array;
    if (wants(entry.name)) {
      TFAOT_ASSIGN(array,
                   npy_from_bytes(entry.bytes, fmt::format("{}: {}", file.string(), entry.name)));
    }
    array.name = array_name(entry.name);
    entry.bytes = {};  // now it is in the array
    arrays.push_back(std::move(array));
  }
  return arrays;
}

// Reads no elements that do not fit the tensors.
Result<std::vector<Array>> read_npy(const FileSystem& files, const Path& file,
                                    const WantedInputs& inputs) {
  TFAOT_ASSIGN(const auto opened, files.open(file));
  TFAOT_ASSIGN(const std::uint64_t size, opened->size());
  TFAOT_ASSIGN(const std::string start, opened->read_range({0, kNpyHeadBytes}));
  std::vector<Array> arrays(1);
  TFAOT_ASSIGN(arrays.front(), npy_head(start, size, file.string()));
  TFAOT_TRY(match_inputs(arrays, inputs, file.string()));
  TFAOT_ASSIGN(const std::string bytes, read_limited(files, file, kArraysLimit));
  TFAOT_ASSIGN(arrays.front(), npy_from_bytes(bytes, file.string()));
  return arrays;
}

// A file with holes is zeros, which are no text: none of it is kept.
Result<std::string> read_csv_text(const FileSystem& files, const Path& file) {
  std::string text;
  TFAOT_TRY(files.read_chunks(file, [&](std::string_view chunk) -> Status {
    if (chunk.find('\0') != std::string_view::npos) {
      return fail(Error::at({file.string()}, "not a table of text: it holds a byte 0"));
    }
    text += chunk;
    if (text.size() <= kArraysLimit.bytes) return {};
    return fail(Error::at({file.string()}, over_limit(text.size(), kArraysLimit)));
  }));
  return text;
}

// `tensors`: those of a table.
Result<std::vector<Array>> read_arrays(const FileSystem& files, const Path& file,
                                       const std::vector<TensorSpec>& tensors,
                                       const WantedInputs& wanted) {
  TFAOT_ASSIGN(const ArrayFormat format, array_format(file));
  if (format == ArrayFormat::kNpz) {
    std::vector<TensorSpec> named = tensors;
    if (wanted.may_be_ragged) {
      for (const FreeDimension& one : wanted.dimensions)
        named.push_back({one.name, DType::kInt64, {}});
    }
    return read_npz(files, file, named);
  }
  if (format == ArrayFormat::kNpy) return read_npy(files, file, wanted);
  TFAOT_ASSIGN(const std::string text, read_csv_text(files, file));
  return csv_from_text(text, tensors, file.string());
}

}  // namespace

Result<ArrayFormat> array_format(const Path& file) {
  if (const auto format = parse_word<ArrayFormat>(file.extension().string())) return *format;
  return fail(Error::at({file.string()},
                        fmt::format("the name ends with none of {}", quoted_words<ArrayFormat>())));
}

Result<ModelInputs> model_inputs(const FileSystem& files, const InputSource& source,
                                 const WantedInputs& inputs) {
  const std::vector<std::int64_t> largest = default_sizes(inputs.dimensions);
  const std::vector<TensorSpec> tensors =
      inputs.dimensions.empty() ? inputs.tensors : tensors_at(inputs.tensors, largest);
  if (source.file.empty() || tensors.empty()) {
    const std::int64_t rows = source.rows.value_or(1);
    TFAOT_TRY(check_row_count(rows, tensors));
    return ModelInputs{
        rows,
        filled_arrays(tensors, {.filling = source.filling, .rows = rows, .seed = source.seed}),
        largest};
  }
  TFAOT_ASSIGN(std::vector<Array> arrays, read_arrays(files, source.file, tensors, inputs));
  if (inputs.may_be_ragged && has_offsets(arrays, inputs)) {
    return match_ragged_inputs(std::move(arrays), inputs, source.file.string());
  }
  return match_inputs(std::move(arrays), inputs, source.file.string());
}

Result<std::vector<Array>> read_outputs(const FileSystem& files, const Path& file,
                                        const std::vector<TensorSpec>& outputs) {
  TFAOT_ASSIGN(const ArrayFormat format, array_format(file));
  if (format != ArrayFormat::kNpy) return read_arrays(files, file, outputs, {});
  TFAOT_ASSIGN(const std::string bytes, read_limited(files, file, kArraysLimit));
  std::vector<Array> arrays(1);
  TFAOT_ASSIGN(arrays.front(), npy_from_bytes(bytes, file.string()));
  return arrays;
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
  const auto text =
      csv_to_text(mapped(tensors, [&](const TensorSpec& tensor) { return make_array(tensor, 0); }));
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
  return write_zip(files, place, mapped(arrays, [&](const Array& array) {
                     return ZipEntry{array.name + std::string(kNpySuffix), npy_to_bytes(array)};
                   }));
}

}  // namespace tfaot::toolkit
