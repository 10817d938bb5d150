// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/symbols.h"

#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {

std::string symbol_prefix(const std::string& namespace_name, const std::string& model_name) {
  return std::string(kSymbolPrefix) + replace_all(namespace_name, "::", "_") + "_" + model_name;
}

std::string entry_symbol(const std::string& prefix, std::int64_t batch_size,
                         const std::string& cpu_level) {
  return program_name(prefix, batch_size) + "_" + identifier_of(cpu_level);
}

std::string weights_symbol(const std::string& prefix) { return prefix + "_weights"; }

}  // namespace tfaot::toolkit
