// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are little-endian in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPreamble = 8;  // magic and version
constexpr std::size_t kWidestLength = 4;
// numpy itself refuses more than 10,000 bytes.
constexpr std::size_t kLongestHeader = kNpyHeadBytes - kPreamble - kWidestLength;
constexpr std::size_t kHeaderAlignment = 64;

struct NpyType {
  const char* word;
  DType dtype;
};
// numpy has no bfloat16. The package ml_dtypes adds it, and saves it as what it is to numpy then:
// two bytes. Read with it: numpy.load(file).view(ml_dtypes.bfloat16).
constexpr NpyType kNpyTypes[] = {
    {"|b1", DType::kBool},    {"|i1", DType::kInt8},     {"<i2", DType::kInt16},
    {"<i4", DType::kInt32},   {"<i8", DType::kInt64},    {"|u1", DType::kUint8},
    {"<u2", DType::kUint16},  {"<u4", DType::kUint32},   {"<u8", DType::kUint64},
    {"<f2", DType::kFloat16}, {"<V2", DType::kBfloat16}, {"|V2", DType::kBfloat16},
    {"<f4", DType::kFloat32}, {"<f8", DType::kFloat64}};

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

Error bad_npy(const std::string& where, const std::string& why) {
  return Error::at({where}, "not a .npy file that can be read: " + why);
}

// The dictionary of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  // Nothing if the text is anything else.
  std::optional<NpyHeader> parse() {
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      if (!pair()) return std::nullopt;
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    skip_blanks();
    const bool complete = has_descr_ && has_order_ && has_shape_ && rest_.empty();
    return complete ? std::optional(header_) : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string> quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  // What Python prints for a structured type, as it is.
  std::string list() {
    skip_blanks();
    const std::size_t end = rest_.rfind(']');
    if (rest_.empty() || rest_.front() != '[' || end == std::string_view::npos) return "";
    std::string text(rest_.substr(0, end + 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool pair() {
    const auto key = quoted();
    if (!key || !take(':')) return false;
    if (*key == "descr" && !has_descr_) return has_descr_ = descr();
    if (*key == "fortran_order" && !has_order_) return has_order_ = order();
    if (*key == "shape" && !has_shape_) return has_shape_ = shape();
    return false;
  }
  bool descr() {
    const auto word = quoted();
    header_.descr = word ? *word : list();
    return !header_.descr.empty();
  }
  bool order() {
    header_.fortran_order = take_word("True");
    return header_.fortran_order || take_word("False");
  }
  bool shape() {
    if (!take('(')) return false;
    while (!take(')')) {
      const auto dimension = number();
      if (!dimension || header_.shape.size() == kMostDimensions) return false;
      header_.shape.push_back(*dimension);
      if (take(',')) continue;
      return header_.shape.size() > 1 && take(')');  // (3) is no tuple
    }
    return true;
  }
  std::optional<std::int64_t> number() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::string_view rest_;
  NpyHeader header_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

// The header's text.
std::optional<std::string_view> header_of(std::string_view bytes) {
  const std::size_t width = bytes[kMagic.size()] == 1 ? 2 : kWidestLength;
  if (bytes.size() < kPreamble + width) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[kPreamble + i])} << (8 * i);
  }
  bytes.remove_prefix(kPreamble + width);
  if (length > bytes.size() || length > kLongestHeader) return std::nullopt;
  return bytes.substr(0, length);
}

Result<DType> npy_dtype(const std::string& descr, const std::string& where) {
  for (const NpyType& type : kNpyTypes) {
    if (descr == type.word) return type.dtype;
  }
  return fail(Error::at({where}, fmt::format("elements of the type '{}'", shown(descr)))
                  .note("models take " + join(words_of<DType>(), ", ") + ", little-endian")
                  .note("convert the array to the type that the model takes: a.astype(...)"));
}

// The bytes of all elements; nothing if their number has no place in 64 bits.
std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dimension), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

// Column-major to row-major.
std::string reordered(std::string_view elements, const Array& array) {
  const std::size_t size = size_of(array.dtype);
  const std::size_t rank = array.shape.size();
  std::vector<std::size_t> strides(rank);  // in the file
  std::size_t stride = size;
  for (std::size_t i = 0; i < rank; ++i) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(array.shape[i]);
  }
  std::string bytes(elements.size(), '\0');
  std::vector<std::int64_t> index(rank);
  std::size_t from = 0;
  for (std::size_t to = 0; to < bytes.size(); to += size) {
    std::memcpy(bytes.data() + to, elements.data() + from, size);
    for (std::size_t i = rank; i-- > 0;) {  // the next index, the last dimension first
      from += strides[i];
      if (++index[i] < array.shape[i]) break;
      from -= strides[i] * static_cast<std::size_t>(index[i]);
      index[i] = 0;
    }
  }
  return bytes;
}

struct NpyHead {
  Array array;  // without elements
  bool fortran_order = false;
  std::size_t size = 0;  // the elements follow
};

Result<NpyHead> read_head(std::string_view start, std::uint64_t file_size,
                          const std::string& where) {
  if (start.size() < kPreamble || !start.starts_with(kMagic)) {
    return fail(bad_npy(where, "it does not start with numpy's mark"));
  }
  const int version = static_cast<unsigned char>(start[kMagic.size()]);
  if (version < 1 || version > 3 || start[kMagic.size() + 1] != 0) {
    return fail(bad_npy(where, "versions 1 to 3 of the format are known, and it has another"));
  }
  const auto text = header_of(start);
  if (!text) return fail(bad_npy(where, "its header is cut off or too long"));
  const auto header = HeaderParser(*text).parse();
  if (!header) return fail(bad_npy(where, "its header is damaged"));
  NpyHead head;
  TFAOT_ASSIGN(head.array.dtype, npy_dtype(header->descr, where));
  head.array.shape = header->shape;
  head.fortran_order = header->fortran_order;
  head.size = static_cast<std::size_t>(text->data() - start.data()) + text->size();
  const auto wanted = byte_count(head.array.shape, head.array.dtype);
  if (wanted && *wanted == file_size - head.size) return head;
  return fail(bad_npy(where, fmt::format("{} bytes of elements follow its header, which says {} "
                                         "of {}",
                                         file_size - head.size, array_shape_text(header->shape),
                                         word_of(head.array.dtype))));
}

}  // namespace

std::string array_shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<Array> npy_head(std::string_view start, std::uint64_t file_size, const std::string& where) {
  TFAOT_ASSIGN(NpyHead head, read_head(start, file_size, where));
  return std::move(head.array);
}

Result<Array> npy_from_bytes(std::string_view bytes, const std::string& where) {
  TFAOT_ASSIGN(NpyHead head, read_head(bytes, bytes.size(), where));
  Array& array = head.array;
  bytes.remove_prefix(head.size);
  array.bytes =
      head.fortran_order && array.shape.size() > 1 ? reordered(bytes, array) : std::string(bytes);
  if (array.dtype == DType::kBool &&
      std::ranges::any_of(array.bytes, [](char byte) { return byte != 0 && byte != 1; })) {
    return fail(bad_npy(where, "a bool is neither 0 nor 1"));
  }
  return std::move(array);
}

std::string npy_to_bytes(const Array& array) {
  const auto type = std::ranges::find(kNpyTypes, array.dtype, &NpyType::dtype);
  std::string shape = fmt::format("{}", fmt::join(array.shape, ", "));
  if (array.shape.size() == 1) shape += ",";
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type->word, shape);
  const std::size_t start = kPreamble + 2 + header.size() + 1;  // with the newline at its end
  header.append((kHeaderAlignment - start % kHeaderAlignment) % kHeaderAlignment, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() % 256),
            static_cast<char>(header.size() / 256)};
  return bytes + header + array.bytes;
}

}  // namespace tfaot::toolkit
