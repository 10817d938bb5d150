// SPDX-License-Identifier: Apache-2.0
// The table of a library with three versions of tfaot_model::fake, and plain, whose rows are
// coupled, and sized: what `tfaot link` writes in assembler.
#include "tests/unit/runtime/fake_model.h"
#include "tests/unit/runtime/sized_model.h"
#include "tfaot/runtime/detail/linked_models.h"

namespace {

tfaot::Description of_version(tfaot::Description description, const char* version,
                              const char* hash) {
  description.version = version;
  description.record_version = 7;
  description.record_hash = hash;
  return description;
}

const tfaot::Description kModels[] = {
    of_version(tfaot_model::fake::description(), "1.10.0", "hash of 1.10"),
    of_version(tfaot_model::fake::description(), "1.9.0", "hash of 1.9"),
    of_version(tfaot_model::fake::description(), "2.0.0", "hash of 2"),
    of_version(tfaot_model::coupled::description(), "1.0.0", "hash of plain"),
    of_version(tfaot_model::demanding::description(), "0.9.0", "hash of demanding"),
    tfaot_model::sized::description()};

}  // namespace

extern "C" const tfaot::LinkedModels tfaot_linked_models = {6, kModels};
