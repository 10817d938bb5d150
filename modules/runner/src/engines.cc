// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "runner.h"

namespace tfaot::runner {

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  const std::string engine = settings.get("engine");
  if (engine == "none") return make_no_engine(settings);
  if (engine == "package") return make_package_engine(settings);
  if (engine == "onnxruntime") return make_onnxruntime_engine(settings);
  if (engine == "litert") return make_litert_engine(settings);
  throw std::runtime_error("no such engine: '" + engine + "'");
}

}  // namespace tfaot::runner
