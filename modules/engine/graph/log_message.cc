// SPDX-License-Identifier: Apache-2.0
// A function that TensorFlow's headers declare to be in its libraries, which have it under no name.
// Whether a check of those headers calls it depends on what g++ inlines.
#include "absl/log/internal/log_message.h"

#include <cstdint>

template absl::log_internal::LogMessage& absl::log_internal::LogMessage::operator<<(
    const std::int64_t& v);
