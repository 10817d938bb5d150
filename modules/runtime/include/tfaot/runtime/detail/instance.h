// SPDX-License-Identifier: Apache-2.0
// A model ready to run, at the lowest level: raw pointers, no checks, no allocation. Owns the
// scratch memory and the buffer tables of every compiled batch size; all instances share code and
// weights. Thread-compatible: one instance per thread, or a lock. The batch sizes of one instance
// share their scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tfaot/runtime/batch_plan.h"
#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/aligned_memory.h"
#include "tfaot/runtime/detail/description.h"
#include "tfaot/runtime/detail/float_scope.h"
#include "tfaot/runtime/detail/tasks.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// Of the free dimensions: of calls that set none.
std::vector<std::int64_t> largest_sizes(const Description& description);

// The cost of padding.
enum class Padding : std::uint8_t {
  kSkipped,   // the code knows how many rows count, and skips the others where it can
  kComputed,  // as much as any row: every call is for a whole batch
};

class Instance {
 public:
  // Throws Error (UnsupportedCpu). `description` must outlive the instance.
  explicit Instance(const Description& description, const CpuChoice& cpu = this_cpu());

  // Another instance with the same code and its own memory: nothing is chosen again.
  Instance sibling() const;

  const Description& description() const noexcept { return *description_; }
  // The level in use for a program, "x86-64-v3".
  const char* cpu_level(std::size_t program) const noexcept { return codes_[program]->cpu_level; }
  std::size_t scratch_bytes() const noexcept { return scratch_bytes_; }
  // Uses the measured costs of the levels in use if all were measured, else the estimated ones,
  // else the default costs. If rows are coupled, costs do not matter.
  BatchPlan batch_plan(Padding padding = Padding::kSkipped) const;
  // The costs of the levels in use, by program, all measured or all estimated; else none.
  std::vector<std::uint64_t> costs() const;
  const Code& code(std::size_t program) const noexcept { return *codes_[program]; }

  // Writes to the scratch memory of a program, so that the system has given it before it runs.
  void touch_scratch(std::size_t program) noexcept;

  // From now on, kernels that can share their work share it through these tasks; null: none do.
  void share_kernels(Tasks* tasks) noexcept {
    *reinterpret_cast<std::int64_t*>(words_.data() + kTasksWord) =
        static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tasks));
  }

  // The sizes of the free dimensions in the calls from now on; before, they are the largest.
  void set_sizes(const std::int64_t* sizes) noexcept {
    const std::size_t count = description_->dimension_count;
    if (count != 0) std::memcpy(words_.data() + kSizesWord, sizes, count * sizeof(std::int64_t));
  }

  // Runs description().programs[program] on inputs[i], each with programs[program].batch_size rows,
  // into outputs[i]. Only the first `live_rows` rows of the batch count: later rows of the outputs
  // are undefined. REQUIRES: live_rows is positive and at most the batch size; pointers are aligned
  // to kMinAlignment; outputs do not overlap each other or an input, because XLA may use an output
  // as scratch before it is done with the inputs. Denormal numbers count as zero meanwhile, unless
  // the model has an input or output of float64.
  void run(std::size_t program, const void* const* inputs, void* const* outputs,
           std::size_t live_rows) noexcept {
    const Call& call = calls_[program];
    *reinterpret_cast<std::int64_t*>(words_.data()) = static_cast<std::int64_t>(live_rows);
    void** const table = tables_.data() + call.table;
    const Patch* patch = patches_.data() + call.patch;
    const Patch* const input_end = patch + call.input_patches;
    const Patch* const output_end = input_end + call.output_patches;
    for (; patch != input_end; ++patch)
      table[patch->slot] = const_cast<void*>(inputs[patch->index]);
    for (; patch != output_end; ++patch) table[patch->slot] = outputs[patch->index];
    const detail::FloatScope scope(denormals_);
    call.entry(table[call.result_slot], nullptr, nullptr, table, nullptr, nullptr);
  }
  // For the whole batch.
  void run(std::size_t program, const void* const* inputs, void* const* outputs) noexcept {
    run(program, inputs, outputs, description_->programs[program].batch_size);
  }

 private:
  static constexpr std::size_t kTasksWord = kMinAlignment;  // bytes into words_
  static constexpr std::size_t kSizesWord = 2 * kMinAlignment;

  // A slot to fill in at each call.
  struct Patch {
    std::uint32_t slot;
    std::uint32_t index;
  };
  // Offsets instead of pointers, so that an instance can be moved.
  struct Call {
    EntryFunction entry;
    std::size_t table;  // its first slot in tables_
    std::size_t result_slot;
    std::size_t patch;  // its first one in patches_, inputs before outputs
    std::size_t input_patches;
    std::size_t output_patches;
  };

  Instance(const Description& description, std::vector<const Code*> codes);
  void add(const Code& code);

  const Description* description_;
  std::vector<const Code*> codes_;  // by program
  detail::Denormals denormals_;
  std::size_t scratch_bytes_ = 0;
  AlignedMemory scratch_;
  AlignedMemory words_;  // int64, which tables point to: live rows, the address of tasks, sizes
  std::vector<void*> tables_;
  std::vector<Patch> patches_;
  std::vector<Call> calls_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
