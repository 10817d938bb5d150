// SPDX-License-Identifier: Apache-2.0
// The loader looks for a function in the executable first, then in libraries, also where a library
// calls its own. So XLA calls the function at the end of this file, which calls XLA's.
#include "compiler/code/aligned_buffers.h"

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <utility>

#include "compiler/kernels/kernel_call.h"
#include "xla/service/buffer_assignment.h"

namespace tfaot::toolkit::engine {
namespace {

bool aligns_buffers = false;

}  // namespace

AlignedBuffers::AlignedBuffers() { aligns_buffers = true; }
AlignedBuffers::~AlignedBuffers() { aligns_buffers = false; }

}  // namespace tfaot::toolkit::engine

namespace xla {

#define TFAOT_ASSIGN_BUFFERS                                                                     \
  "_ZN3xla14BufferAssigner3RunEPKNS_9HloModuleESt10unique_ptrINS_11HloOrderingESt14default_del"  \
  "eteIS5_EESt8functionIFlRKNS_11BufferValueEEES9_IFllEEbS9_IFN4absl12lts_202308026StatusEPNS_"  \
  "16HloAliasAnalysisERKS5_EESt8optionalIS9_IFbRKSK_PKNS_14HloInstructionERKNS_10ShapeIndexEEEE" \
  "S9_IFSQ_IbESV_SV_SY_EES4_INS_23memory_space_assignment17PresetAssignmentsES6_IS16_EERKNSI_13" \
  "flat_hash_mapIlSt6vectorIPKNS_14HloComputationESaIS1D_EENSI_13hash_internal4HashIlEESt8equal" \
  "_toIlESaISt4pairIKlS1F_EEEES9_IFbRKNS_31GlobalDecreasingSizeBestFitHeapINS_8HloValueEE14Buff" \
  "erIntervalES1X_EESQ_INS_16BufferAssignment22BufferIsolationOptionsEESQ_IlE"

using AssignedBuffers = absl::StatusOr<std::unique_ptr<BufferAssignment>>;
using ComparedBuffers = GlobalDecreasingSizeBestFitHeap<HloValue>::BufferIntervalCompare;

AssignedBuffers BufferAssigner::Run(
    const HloModule* module, std::unique_ptr<HloOrdering> hlo_ordering,
    BufferValue::SizeFunction buffer_size, LogicalBuffer::AlignmentFunction color_alignment,
    bool allocate_buffers_for_constants, Colorer colorer,
    std::optional<MustNotLiveOut> must_not_live_out,
    HloDataflowAnalysis::CanShareBuffer can_share_buffer,
    std::unique_ptr<memory_space_assignment::PresetAssignments> preset_assignments,
    const PrivateStacks& private_stacks, ComparedBuffers heap_buffer_interval_compare,
    std::optional<BufferAssignment::BufferIsolationOptions> isolation_options,
    std::optional<BufferValue::Color> temp_buffer_color) {
  static auto* const run =
      reinterpret_cast<decltype(&BufferAssigner::Run)>(dlsym(RTLD_NEXT, TFAOT_ASSIGN_BUFFERS));
  if (tfaot::toolkit::engine::aligns_buffers) {
    color_alignment = [](LogicalBuffer::Color /*color*/) {
      return tfaot::toolkit::engine::kLineBytes;
    };
  }
  return run(module, std::move(hlo_ordering), std::move(buffer_size), std::move(color_alignment),
             allocate_buffers_for_constants, std::move(colorer), std::move(must_not_live_out),
             std::move(can_share_buffer), std::move(preset_assignments), private_stacks,
             std::move(heap_buffer_interval_compare), std::move(isolation_options),
             temp_buffer_color);
}

}  // namespace xla
