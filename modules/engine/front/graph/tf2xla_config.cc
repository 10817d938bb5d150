// SPDX-License-Identifier: Apache-2.0
#include "front/graph/tf2xla_config.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include "compiler/hlo/conversions.h"
#include "tensorflow/compiler/tf2xla/tf2xla.pb.h"
#include "tensorflow/core/platform/env.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Keeps the first error; the others follow from it.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int /*column*/, const std::string& message) override {
    if (!what.empty()) return;
    where = line + 1;  // from 0, and -1 for none
    what = message;
  }
  int where = 0;
  std::string what;
};

std::string tensor_name(const tf::tf2xla::TensorId& id) {
  return fmt::format("{}:{}", id.node_name(), id.output_index());
}

Tf2xlaFeed feed_of(const tf::tf2xla::Feed& feed) {
  Tf2xlaFeed read{tensor_name(feed.id()), feed.name(), "", {}};
  if (feed.type() != tf::DT_INVALID) read.dtype = type_name(feed.type());
  for (const auto& dimension : feed.shape().dim()) read.shape.push_back(dimension.size());
  return read;
}

}  // namespace

Result<Tf2xlaConfig> read_tf2xla_config(const std::string& file) {
  std::string text;
  TFAOT_TRY(checked(tf::ReadFileToString(tf::Env::Default(), file, &text), "cannot be read"));
  tf::tf2xla::Config config;
  FirstError first;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first);
  if (!parser.ParseFromString(text, &config)) {
    return fail(Error::at({file, first.where}, "not the text of a tensorflow.tf2xla.Config")
                    .note(first.what));
  }
  Tf2xlaConfig read;
  for (const auto& feed : config.feed()) read.feeds.push_back(feed_of(feed));
  for (const auto& fetch : config.fetch()) {
    read.fetches.push_back({tensor_name(fetch.id()), fetch.name()});
  }
  read.variables = static_cast<std::uint32_t>(config.variable_size());
  return read;
}

}  // namespace tfaot::toolkit::engine
