// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "runner.h"

namespace tfaot::runner {
namespace {

constexpr std::size_t kAlignment = 64;

DType type_of(const std::string& word) {
  for (std::size_t i = 0; i < detail::kDTypeCount; ++i) {
    const auto type = static_cast<DType>(i);
    if (word == name_of(type)) return type;
  }
  throw std::runtime_error("unknown type " + word);
}

// "float32 28,28,3 x"
Tensor tensor_of(const std::string& text) {
  std::istringstream words(text);
  std::string type;
  std::string shape;
  Tensor tensor;
  words >> type >> shape >> std::ws;
  std::getline(words, tensor.name);
  tensor.type = type_of(type);
  if (shape == "-") return tensor;
  std::istringstream sizes(shape);
  for (std::string size; std::getline(sizes, size, ',');) {
    tensor.row_shape.push_back(std::stoll(size));
  }
  return tensor;
}

}  // namespace

std::vector<unsigned char> Constant::as(DType type) const {
  const std::size_t count = tensor.row_elements();
  std::vector<unsigned char> bytes(count * size_of(type));
  const auto convert = [&](auto value, auto to) {
    using To = typename decltype(to)::Type;
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&value, static_cast<const char*>(data) + i * sizeof value, sizeof value);
      const auto made = static_cast<To>(value);
      std::memcpy(bytes.data() + i * sizeof made, &made, sizeof made);
    }
  };
  ::tfaot::detail::visit_dtype(type, [&](auto to) {
    tensor.type == DType::kInt64 ? convert(std::int64_t{}, to) : convert(double{}, to);
  });
  return bytes;
}

std::size_t Tensor::row_elements() const {
  std::size_t elements = 1;
  for (const std::int64_t size : row_shape) elements *= static_cast<std::size_t>(size);
  return elements;
}

std::size_t Tensor::row_bytes() const { return size_of(type) * row_elements(); }

std::vector<std::int64_t> Tensor::shape(std::size_t rows) const {
  std::vector<std::int64_t> sizes = row_shape;
  if (has_batch) sizes.insert(sizes.begin(), static_cast<std::int64_t>(rows));
  return sizes;
}

std::string Settings::get(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second.back();
}

std::vector<std::string> Settings::all(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t mark = word.find('=');
    if (mark == std::string::npos) throw std::runtime_error("not KEY=VALUE: " + word);
    settings.values[word.substr(0, mark)].push_back(word.substr(mark + 1));
  }
  for (const std::string& text : settings.all("input")) settings.inputs.push_back(tensor_of(text));
  for (const std::string& text : settings.all("output")) {
    settings.outputs.push_back(tensor_of(text));
  }
  const bool has_batch = settings.get("batch") != "none";
  for (auto* const tensors : {&settings.inputs, &settings.outputs}) {
    for (Tensor& tensor : *tensors) tensor.has_batch = has_batch;
  }
  for (const std::string& text : settings.all("constant")) {
    settings.constants.push_back({tensor_of(text), nullptr});
    settings.constants.back().tensor.has_batch = false;
  }
  return settings;
}

void OutputMemory::Free::operator()(void* memory) const { std::free(memory); }

void OutputMemory::allocate(const std::vector<Tensor>& outputs, std::size_t rows) {
  memory_.clear();
  pointers_.clear();
  for (const Tensor& output : outputs) {
    const std::size_t bytes = std::max(rows * output.row_bytes(), kAlignment);
    memory_.emplace_back(
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment));
    pointers_.push_back(memory_.back().get());
  }
}

std::vector<std::size_t> places_of(const std::vector<Tensor>& tensors,
                                   const std::vector<std::string>& names, const char* what) {
  if (names.size() != tensors.size()) {
    throw std::runtime_error("the model has " + std::to_string(names.size()) + " " + what +
                             ", the package " + std::to_string(tensors.size()));
  }
  std::vector<std::size_t> by_order(names.size());
  std::vector<std::size_t> by_name;
  for (std::size_t i = 0; i < names.size(); ++i) {
    by_order[i] = i;
    const auto found = std::ranges::find(tensors, names[i], &Tensor::name);
    if (found != tensors.end()) {
      by_name.push_back(static_cast<std::size_t>(found - tensors.begin()));
    }
  }
  return by_name.size() == names.size() ? by_name : by_order;
}

}  // namespace tfaot::runner
