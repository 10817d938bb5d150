// SPDX-License-Identifier: Apache-2.0
// Runs every model of the library of `tfaot link` that it is linked with, on made-up rows, and
// prints all bits of the results: "MODEL|OUTPUT|ROW|HEX HEX ...". All NaNs print alike. Fails if a
// row gives other bits alone than among others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tfaot/runtime/half.h"
#include "tfaot/runtime/tfaot.h"

namespace {

constexpr std::size_t kRows = 17;  // no model is compiled for it, so sizes are composed

// Models that get ordinary numbers alone. A loop may wait for each number to become small, and the
// branch of a tf.cond() is that of all rows.
constexpr std::string_view kOrdinary[] = {"loops", "branches"};

struct Tensor {
  std::string name;
  std::int32_t dtype;
  std::size_t row_elements;
};

// The bytes of a row, by tensor and row.
using Rows = std::vector<std::vector<std::string>>;

template <class Struct>
Struct sized() {
  Struct made{};
  made.size = sizeof made;
  return made;
}

[[noreturn]] void fail(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(1);
}

void check(int status, const tfaot_error& error) {
  if (status != TFAOT_OK) fail(error.text);
}

template <class T>
struct Type {
  using Element = T;
};

// Calls `visit` with the Type of the elements.
template <class Visit>
void visit_type(std::int32_t dtype, const Visit& visit) {
  switch (dtype) {
    case TFAOT_BOOL:
      return visit(Type<bool>());
    case TFAOT_INT8:
      return visit(Type<std::int8_t>());
    case TFAOT_UINT8:
      return visit(Type<std::uint8_t>());
    case TFAOT_INT16:
      return visit(Type<std::int16_t>());
    case TFAOT_UINT16:
      return visit(Type<std::uint16_t>());
    case TFAOT_INT32:
      return visit(Type<std::int32_t>());
    case TFAOT_UINT32:
      return visit(Type<std::uint32_t>());
    case TFAOT_INT64:
      return visit(Type<std::int64_t>());
    case TFAOT_UINT64:
      return visit(Type<std::uint64_t>());
    case TFAOT_FLOAT16:
      return visit(Type<tfaot::float16>());
    case TFAOT_BFLOAT16:
      return visit(Type<tfaot::bfloat16>());
    case TFAOT_FLOAT32:
      return visit(Type<float>());
    case TFAOT_FLOAT64:
      return visit(Type<double>());
    default:
      fail("unknown element type " + std::to_string(dtype));
  }
}

std::size_t bytes_of(std::int32_t dtype) {
  std::size_t bytes = 0;
  visit_type(dtype, [&](auto type) { bytes = sizeof(typename decltype(type)::Element); });
  return bytes;
}

class Numbers {
 public:
  explicit Numbers(bool with_special) : with_special_(with_special) {}

  std::string row(const Tensor& tensor, std::size_t row) {
    std::string bytes;
    visit_type(tensor.dtype, [&](auto type) {
      using Element = typename decltype(type)::Element;
      for (std::size_t i = 0; i < tensor.row_elements; ++i) {
        const auto element = next<Element>(row);
        bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
      }
    });
    return bytes;
  }

 private:
  template <class Element>
  Element next(std::size_t row) {
    state_ = state_ * 1664525U + 1013904223U;
    const std::uint32_t number = state_ >> 8;
    if constexpr (std::is_same_v<Element, bool>) return number % 2 == 1;
    // Places of other tensors, and numbers of categories, are small.
    if constexpr (std::is_integral_v<Element>) return static_cast<Element>(number % 4);
    // Two rows of eight have NaN, infinities, numbers that no integer holds, and denormal ones.
    if (with_special_ && (row % 8 == 7 || (row % 8 == 6 && number % 3 == 0))) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
      constexpr double kSpecial[] = {-0.0,  kInfinity, -kInfinity, kNan, 3e9,
                                     -1e19, 1e30,      -1e-41,     1e-41};
      return Element(kSpecial[number / 3 % std::size(kSpecial)]);
    }
    constexpr double kScales[] = {1, 16, 1, 0.0625};
    return Element((static_cast<double>(number) * 0x1p-22 - 2) * kScales[row % 4]);
  }

  bool with_special_;
  std::uint32_t state_ = 1;
};

// The bits of each element, in hexadecimal.
std::string text_of(const Tensor& tensor, const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  visit_type(tensor.dtype, [&](auto type) {
    using Element = typename decltype(type)::Element;
    for (std::size_t i = 0; i < tensor.row_elements; ++i) {
      Element element;
      std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
      if (element != element) {  // NaN
        text += " nan";
        continue;
      }
      std::uint64_t bits = 0;
      std::memcpy(&bits, &element, sizeof element);
      text += ' ';
      for (std::size_t digit = 2 * sizeof element; digit-- > 0;) {
        text += kDigits[bits >> 4 * digit & 15];
      }
    }
  });
  return text;
}

class Model {
 public:
  explicit Model(std::uint32_t index) {
    tfaot_error error = sized<tfaot_error>();
    tfaot_record record = sized<tfaot_record>();
    check(tfaot_models_list(index, &record, &error), error);
    name_ = record.model_name;
    tfaot_request request = sized<tfaot_request>();
    request.name = record.model_name;
    check(tfaot_models_open(&request, &handle_, &error), error);
    signature_ = sized<tfaot_signature>();
    check(tfaot_models_signature(handle_, &signature_, &error), error);
    inputs_ = tensors(tfaot_models_input, signature_.input_count);
    outputs_ = tensors(tfaot_models_output, signature_.output_count);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { tfaot_models_close(handle_); }

  // False if a row depends on the others.
  bool print() {
    if (signature_.coupled_rows != 0) {
      for (std::size_t i = 0; i < signature_.batch_size_count; ++i) {
        const std::size_t rows = signature_.batch_sizes[i];
        print(run(made_rows(rows)), " of " + std::to_string(rows));
      }
      return true;
    }
    const Rows inputs = made_rows(kRows);
    const Rows together = run(inputs);
    print(together, "");
    bool is_same = true;
    for (std::size_t row = 0; row < kRows; ++row) {
      Rows one;
      for (const auto& rows : inputs) one.push_back({rows[row]});
      const Rows alone = run(one);
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (text_of(outputs_[i], alone[i][0]) == text_of(outputs_[i], together[i][row])) continue;
        std::cerr << name_ << ": output '" << outputs_[i].name << "' of row " << row
                  << " has other bits if the row is alone\n";
        is_same = false;
      }
    }
    return is_same;
  }

 private:
  template <class Describe>
  std::vector<Tensor> tensors(const Describe& describe, std::uint32_t count) const {
    std::vector<Tensor> found;
    for (std::uint32_t i = 0; i < count; ++i) {
      tfaot_error error = sized<tfaot_error>();
      tfaot_tensor tensor = sized<tfaot_tensor>();
      check(describe(handle_, i, &tensor, &error), error);
      found.push_back({tensor.name, tensor.dtype, tensor.row_elements});
    }
    return found;
  }

  Rows made_rows(std::size_t count) const {
    const auto* const ordinary = std::find(std::begin(kOrdinary), std::end(kOrdinary), name_);
    Numbers numbers(ordinary == std::end(kOrdinary));
    Rows made;
    for (const Tensor& tensor : inputs_) {
      made.emplace_back();
      for (std::size_t row = 0; row < count; ++row) {
        made.back().push_back(numbers.row(tensor, row));
      }
    }
    return made;
  }

  Rows run(const Rows& inputs) const {
    const std::size_t count = inputs.empty() ? 1 : inputs[0].size();
    std::vector<std::string> in;
    std::vector<std::string> out;
    std::vector<const void*> in_places;
    std::vector<void*> out_places;
    for (const auto& rows : inputs) {
      in.emplace_back();
      for (const std::string& row : rows) in.back() += row;
    }
    for (const Tensor& tensor : outputs_) {
      out.emplace_back(count * tensor.row_elements * bytes_of(tensor.dtype), '\0');
    }
    for (const std::string& tensor : in) in_places.push_back(tensor.data());
    for (std::string& tensor : out) out_places.push_back(tensor.data());
    tfaot_error error = sized<tfaot_error>();
    tfaot_call call = sized<tfaot_call>();
    call.input_count = signature_.input_count;
    call.output_count = signature_.output_count;
    call.rows = count;
    call.inputs = in_places.data();
    call.outputs = out_places.data();
    check(tfaot_models_run(handle_, &call, &error), error);
    Rows results;
    for (const std::string& tensor : out) {
      const std::size_t bytes = tensor.size() / count;
      results.emplace_back();
      for (std::size_t row = 0; row < count; ++row) {
        results.back().push_back(tensor.substr(row * bytes, bytes));
      }
    }
    return results;
  }

  void print(const Rows& results, const std::string& of) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      for (std::size_t row = 0; row < results[i].size(); ++row) {
        std::cout << name_ << '|' << outputs_[i].name << '|' << row << of << '|'
                  << text_of(outputs_[i], results[i][row]) << '\n';
      }
    }
  }

  std::string name_;
  tfaot_handle* handle_ = nullptr;
  tfaot_signature signature_{};
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

}  // namespace

int main() {
  bool is_same = true;
  for (std::uint32_t i = 0; i < tfaot_models_count(); ++i) {
    is_same = Model(i).print() && is_same;
  }
  return is_same ? 0 : 1;
}
