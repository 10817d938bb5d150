// SPDX-License-Identifier: Apache-2.0
#include "header_data.h"
#include "headers.h"
#include "templates.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::uint64_t kAlignment = 64;  // as in tfaot/runtime/detail/description.h

TemplateData code_data(const CompiledCode& code, const CompiledModel& compiled) {
  TemplateData slots{TemplateData::type::list};
  std::uint64_t scratch = 0;
  for (const BufferSlot& buffer : code.buffers) {
    std::uint64_t offset = 0;
    std::uint32_t index = buffer.index;
    if (buffer.kind == BufferKind::kWeight) {
      index = code.weights[buffer.index];
      offset = compiled.weights[index].offset;
    }
    if (buffer.kind == BufferKind::kTemporary) {
      offset = scratch;
      scratch += (buffer.size + kAlignment - 1) / kAlignment * kAlignment;
    }
    slots << TemplateObject{{"kind", enumerator(word_of(buffer.kind))},
                            {"index", std::to_string(index)},
                            {"offset", std::to_string(offset)},
                            {"size", std::to_string(buffer.size)}};
  }
  return TemplateObject{{"entry", code.entry_symbol},
                        {"level", code.cpu_level},
                        {"features", join(code.cpu_features, " ")},
                        {"level_id", identifier_of(code.cpu_level)},
                        {"cost", cost_constant(code.batch_size, code.cpu_level)},
                        {"estimate", std::to_string(code.estimated_cost)},
                        {"live", std::to_string(code.live_permille)},
                        {"shared", std::to_string(code.shared_permille)},
                        {"lane_bytes", std::to_string(code.lane_bytes)},
                        {"slots", slots},
                        {"slot_count", std::to_string(code.buffers.size())},
                        {"result_slot", std::to_string(code.result_slot)},
                        {"scratch_bytes", std::to_string(scratch)}};
}

}  // namespace

std::string program_header(const ModelSpec& spec, const CompiledModel& compiled,
                           const PackageNames& names, std::int64_t batch_size) {
  TemplateData codes{TemplateData::type::list};
  for (const CompiledCode& code : compiled.codes) {
    if (code.batch_size == batch_size) codes << code_data(code, compiled);
  }
  const std::size_t code_count = codes.list_value().size();
  return render(templates::kProgramHeader,
                TemplateObject{{"made_by", names.made_by},
                               {"class", names.cpp_class},
                               {"namespace", spec.compilation.namespace_name},
                               {"build", kUnnamedBuild},
                               {"name", spec.model.name},
                               {"struct", tables_name(spec, batch_size)},
                               {"batch_size", std::to_string(batch_size)},
                               {"codes", codes},
                               {"code_count", std::to_string(code_count)}},
                Escaping::kNone);
}

}  // namespace tfaot::toolkit
