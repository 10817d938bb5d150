// SPDX-License-Identifier: Apache-2.0
// The part of tsl/platform/logging.h that CHECK_EQ needs, because the wheel does not ship its
// source: print the message and abort.
#include "tsl/platform/logging.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace tsl {
namespace internal {

LogMessage::LogMessage(const char* fname, int line, absl::LogSeverity severity)
    : fname_(fname), line_(line), severity_(severity) {}

LogMessage::~LogMessage() = default;

void LogMessage::GenerateLogMessage() {
  std::fprintf(stderr, "%s:%d: %s\n", fname_, line_, str().c_str());
}

LogMessageFatal::LogMessageFatal(const char* file, int line)
    : LogMessage(file, line, absl::LogSeverity::kFatal) {}

LogMessageFatal::~LogMessageFatal() {
  GenerateLogMessage();
  std::abort();
}

CheckOpMessageBuilder::CheckOpMessageBuilder(const char* exprtext)
    : stream_(new std::ostringstream) {
  *stream_ << exprtext << " (";
}

CheckOpMessageBuilder::~CheckOpMessageBuilder() { delete stream_; }

std::ostream* CheckOpMessageBuilder::ForVar2() {
  *stream_ << " vs. ";
  return stream_;
}

std::string* CheckOpMessageBuilder::NewString() {
  *stream_ << ")";
  return new std::string(stream_->str());
}

}  // namespace internal
}  // namespace tsl
