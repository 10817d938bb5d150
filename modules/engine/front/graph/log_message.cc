// SPDX-License-Identifier: Apache-2.0
// TensorFlow's headers declare this function to be in its libraries, but they do not export it. A
// check in those headers calls it unless g++ inlines the call.
#include "absl/log/internal/log_message.h"

#include <cstdint>

template absl::log_internal::LogMessage& absl::log_internal::LogMessage::operator<<(
    const std::int64_t& v);
