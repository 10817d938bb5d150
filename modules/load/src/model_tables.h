// SPDX-License-Identifier: Apache-2.0
// The runtime's tables of a package, as its headers have them, made from its manifest and record.
// Entries and weights have no address yet: LoadedModel finds them in an opened library, and
// link_models() writes their symbols. Used by one thread; nothing moves once it is made.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/manifest.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot::toolkit {

class ModelTables {
 public:
  ModelTables(Manifest manifest, CompiledModel compiled);
  ModelTables(const ModelTables&) = delete;
  ModelTables& operator=(const ModelTables&) = delete;
  ~ModelTables() = default;

  const Manifest& manifest() const { return manifest_; }
  const CompiledModel& compiled() const { return compiled_; }
  const ::tfaot::Description& description() const { return description_; }

  // A code of the tables, and its record.
  struct Entry {
    ::tfaot::Code* code;
    const CompiledCode* compiled;
  };
  // By batch size, then CPU level, as in description().programs.
  const std::vector<Entry>& entries() const { return entries_; }
  void set_weights(const unsigned char* weights) { description_.weights = weights; }

 private:
  std::vector<::tfaot::TensorInfo> tensor_infos(const std::vector<TensorSpec>& tensors);
  const ::tfaot::SizeFormula* free_shape(const TensorSpec& tensor);
  ::tfaot::Code make_code(const CompiledCode& code);
  std::size_t fill_slots(const CompiledCode& code);

  Manifest manifest_;
  CompiledModel compiled_;
  std::vector<::tfaot::FreeDimension> dimensions_;
  std::deque<std::vector<std::uint8_t>> powers_;            // by term
  std::deque<std::vector<::tfaot::SizeSteps>> steps_;       // by term
  std::deque<std::vector<::tfaot::SizeTerm>> terms_;        // by formula
  std::deque<std::vector<::tfaot::SizeFormula>> formulas_;  // by tensor
  std::vector<::tfaot::TensorInfo> inputs_;
  std::vector<::tfaot::TensorInfo> outputs_;
  std::deque<std::string> features_;                    // by code
  std::deque<std::vector<::tfaot::BufferSlot>> slots_;  // by code
  std::deque<std::vector<::tfaot::Code>> codes_;        // by program
  std::vector<Entry> entries_;
  std::vector<::tfaot::Program> programs_;
  ::tfaot::Description description_{};
};

}  // namespace tfaot::toolkit
