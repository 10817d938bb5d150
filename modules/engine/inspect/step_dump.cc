// SPDX-License-Identifier: Apache-2.0
#include "inspect/step_dump.h"

#include <fmt/format.h>

#include "tfaot/records/hlo_graph_json.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {

StepViewer StepDump::viewer() {
  if (!is_wanted()) return {};
  return {[this](const std::string& step, const xla::HloModule& module) {
            return add(step, module.ToProto());
          },
          passes_};
}

Status StepDump::add(const std::string& step, const xla::HloModuleProto& module) {
  if (!is_wanted()) return {};
  xla::HloProto proto;
  *proto.mutable_hlo_module() = module;
  const std::string name = fmt::format("tfaot.{:04}.{}.hlo.pb", ++steps_, step);
  return fs_.replace_atomically(folder_ / name, proto.SerializeAsString(), Durability::kScratch);
}

Status StepDump::add(const DumpFacts& facts) {
  if (!is_wanted()) return {};
  return fs_.replace_atomically(folder_ / kDumpFactsName, dump_facts_to_json(facts),
                                Durability::kScratch);
}

}  // namespace tfaot::toolkit::engine
