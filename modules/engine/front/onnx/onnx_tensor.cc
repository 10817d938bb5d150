// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/onnx_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_files.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::TensorProto;

struct TypePair {
  int onnx;
  xla::PrimitiveType xla;
};
constexpr auto kTypes = std::to_array<TypePair>({
    {TensorProto::FLOAT, xla::F32},
    {TensorProto::UINT8, xla::U8},
    {TensorProto::INT8, xla::S8},
    {TensorProto::UINT16, xla::U16},
    {TensorProto::INT16, xla::S16},
    {TensorProto::INT32, xla::S32},
    {TensorProto::INT64, xla::S64},
    {TensorProto::BOOL, xla::PRED},
    {TensorProto::FLOAT16, xla::F16},
    {TensorProto::DOUBLE, xla::F64},
    {TensorProto::UINT32, xla::U32},
    {TensorProto::UINT64, xla::U64},
    {TensorProto::COMPLEX64, xla::C64},
    {TensorProto::COMPLEX128, xla::C128},
    {TensorProto::BFLOAT16, xla::BF16},
});

Error at_tensor(const TensorProto& tensor, const std::string& what) {
  return Error(fmt::format("tensor '{}' {}", tensor.name(), what));
}

// The values of a repeated field, each as a Stored, which holds the bits of one element.
template <typename Stored, typename Field>
std::string raw_bytes(const Field& field) {
  std::string bytes(static_cast<std::size_t>(field.size()) * sizeof(Stored), '\0');
  char* to = bytes.data();
  for (const auto value : field) {
    const auto stored = static_cast<Stored>(value);
    std::memcpy(to, &stored, sizeof stored);
    to += sizeof stored;
  }
  return bytes;
}

// From the field that the standard names for the type.
std::string typed_bytes(const TensorProto& tensor) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64:
      return raw_bytes<float>(tensor.float_data());
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX128:
      return raw_bytes<double>(tensor.double_data());
    case TensorProto::INT64:
      return raw_bytes<std::int64_t>(tensor.int64_data());
    case TensorProto::UINT64:
      return raw_bytes<std::uint64_t>(tensor.uint64_data());
    case TensorProto::UINT32:
      return raw_bytes<std::uint32_t>(tensor.uint64_data());
    case TensorProto::INT32:
      return raw_bytes<std::int32_t>(tensor.int32_data());
    case TensorProto::INT16:
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return raw_bytes<std::uint16_t>(tensor.int32_data());
    case TensorProto::BOOL: {
      std::string bytes;
      for (const auto value : tensor.int32_data()) bytes += value == 0 ? '\0' : '\1';
      return bytes;
    }
    default:
      return raw_bytes<std::uint8_t>(tensor.int32_data());
  }
}

Result<std::uint64_t> number_in(const TensorProto& tensor, const std::string& text) {
  if (const auto number = parse_number<std::uint64_t>(text)) return *number;
  return fail(
      at_tensor(tensor, fmt::format("has external data at '{}', which is not a number", text)));
}

Result<std::string> external_bytes(const TensorProto& tensor, const std::string& model_file,
                                   std::uint64_t size) {
  std::string location;
  std::uint64_t offset = 0;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TFAOT_ASSIGN(offset, number_in(tensor, entry.value()));
    }
    if (entry.key() == "length") {
      TFAOT_ASSIGN(const std::uint64_t length, number_in(tensor, entry.value()));
      if (length != size) {
        return fail(at_tensor(
            tensor, fmt::format("has {} bytes of external data instead of {}", length, size)));
      }
    }
  }
  const RealFileSystem files;
  const bool is_name = !location.empty() && location.find('\0') == std::string::npos;
  const auto path = file_of_model(files, model_file, Path(model_file).parent_path() / location);
  if (!is_name || !path) {
    return fail(at_tensor(tensor, fmt::format("has its values in '{}'", location))
                    .note("external data must lie in the folder of the model"));
  }
  const auto cannot_read = [&](const std::string& why) {
    return fail(Error::at({path->string()}, why)
                    .note("the model keeps values there: copy the file with the model"));
  };
  const auto file = files.open(*path);
  if (!file) return cannot_read(file.error().message());
  TFAOT_ASSIGN(const std::uint64_t there, (*file)->size());
  if (there < offset || there - offset < size) {
    return cannot_read(
        fmt::format("ends before the {} bytes of tensor '{}' at {}", size, tensor.name(), offset));
  }
  return (*file)->read_range({offset, size});
}

}  // namespace

std::optional<xla::PrimitiveType> element_type(int onnx_type) {
  for (const TypePair& pair : kTypes) {
    if (pair.onnx == onnx_type) return pair.xla;
  }
  return std::nullopt;
}

std::string onnx_type_name(int onnx_type) {
  return onnx::TensorProto_DataType_IsValid(onnx_type)
             ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(onnx_type))
             : fmt::format("type {}", onnx_type);
}

Result<xla::Shape> shape_of_tensor(const TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  if (!type) {
    return fail(at_tensor(tensor, fmt::format("has values of {}, which cannot be compiled",
                                              onnx_type_name(tensor.data_type()))));
  }
  if (static_cast<std::size_t>(tensor.dims_size()) > kMostDimensions) {
    return fail(at_tensor(tensor, fmt::format("has {} dimensions, but at most {} are allowed",
                                              tensor.dims_size(), kMostDimensions)));
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.dims()) {
    if (size < 0 || size > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      return fail(at_tensor(tensor, fmt::format("has a dimension of size {}", size)));
    }
    elements *= size;
  }
  const std::vector<std::int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
  return shape_of(*type, sizes);
}

Result<xla::Literal> read_tensor(const TensorProto& tensor, const std::string& model_file) {
  TFAOT_ASSIGN(const xla::Shape shape, shape_of_tensor(tensor));
  const auto size = static_cast<std::uint64_t>(xla::ShapeUtil::ByteSizeOf(shape));
  std::string kept;
  const std::string* bytes = &kept;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    TFAOT_ASSIGN(kept, external_bytes(tensor, model_file, size));
  } else if (tensor.has_raw_data()) {
    bytes = &tensor.raw_data();
  } else {
    kept = typed_bytes(tensor);
  }
  if (bytes->size() != size) {
    return fail(
        at_tensor(tensor, fmt::format("of shape {} has {} bytes of values instead of {}",
                                      xla::ShapeUtil::HumanString(shape), bytes->size(), size)));
  }
  xla::Literal literal(shape);
  if (size > 0) std::memcpy(literal.untyped_data(), bytes->data(), size);
  if (shape.element_type() == xla::PRED) {
    make_bools(static_cast<char*>(literal.untyped_data()), size);
  }
  return literal;
}

}  // namespace tfaot::toolkit::engine
