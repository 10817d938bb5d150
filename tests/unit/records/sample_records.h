// SPDX-License-Identifier: Apache-2.0
// Records as config and compile would produce them, for the tests of generate.
#pragma once

#include <string>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::testing {

struct Records {
  ModelSpec spec;
  CompiledModel compiled;
};

// One float input, three batch sizes, two CPU levels, shared weights.
Records simple_records();
// Several inputs and outputs of the dtypes that CMSSW has names for, rows of rank 0 and 3, a nested
// namespace, a name with capitals.
Records mixed_records();
// An input of each dtype, and a weight of float16.
Records typed_records();
// mixed_records() for CMSSW, for two batch sizes and CPU levels.
Records cmssw_records();
// simple_records() with the weights inside the objects.
Records embedded_records();
// mixed_records() of a model without a batch.
Records whole_records();
// Of a model with free dimensions.
Records sized_records();
// Texts that try to break out of comments, literals and markup.
Records hostile_records();

}  // namespace tfaot::toolkit::testing
