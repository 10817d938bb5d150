// SPDX-License-Identifier: Apache-2.0
// What a call of the model's interface throws, in the flavour of headers that a test is built with.
#pragma once

#include <string>

#ifdef TFAOT_INSIDE_CMSSW
#include "FWCore/Utilities/interface/Exception.h"
using UserException = cms::Exception;
#else
#include "tfaot/runtime/error.h"
using UserException = tfaot::Error;
#endif

// The category of what `call` throws.
template <class Call>
std::string category_of(const Call& call) {
  try {
    call();
  } catch (const UserException& exception) {
    return exception.category();
  }
  return "nothing was thrown";
}
