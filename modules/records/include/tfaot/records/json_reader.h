// SPDX-License-Identifier: Apache-2.0
// A JSON value with its place in the document, for errors like "manifest.json: files[2].size:
// expected a whole number". Nothing here throws. A reader refers to its document, which must
// outlive it. Unknown keys are ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/result.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

class JsonReader {
 public:
  // `file` names the document in errors.
  JsonReader(const nlohmann::json& value, std::string file)
      : value_(&value), file_(std::make_shared<const std::string>(std::move(file))) {}

  Result<JsonReader> member(const std::string& key) const;
  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  Result<std::vector<JsonReader>> elements(std::size_t most) const;
  Result<std::string> text() const;
  // From -2^63 to 2^63-1.
  Result<std::int64_t> number() const;

  // Any number.
  Result<double> real() const;
  Result<bool> flag() const;
  // One of the words of an enum.
  template <HasWords Enum>
  Result<Enum> word() const {
    TFAOT_ASSIGN(const std::string text, this->text());
    if (const std::optional<Enum> value = parse_word<Enum>(text)) return *value;
    return failed("expected " + quoted_words<Enum>() + ", not '" + shown(text) + "'");
  }

  // Reads a member into `value`, by a function or a member function of its JsonReader.
  template <class Value, class Reader>
  Status read(const std::string& key, Value& value, Reader reader) const {
    TFAOT_ASSIGN(const JsonReader found, member(key));
    TFAOT_ASSIGN(value, std::invoke(reader, found));
    return {};
  }
  template <class Value, class Reader>
  Status read_if_there(const std::string& key, Value& value, Reader reader) const {
    return has(key) ? read(key, value, reader) : Status();
  }

  // "FILE: signature.inputs[0]: message"
  tl::unexpected<Error> failed(const std::string& message) const;

  // All elements, at most `most`, each read by `reader(JsonReader) -> Result<T>`.
  template <class Reader>
  auto list(const Reader& reader, std::size_t most = kMostFiles) const
      -> Result<std::vector<typename decltype(reader(*this))::value_type>> {
    TFAOT_ASSIGN(const std::vector<JsonReader> found, elements(most));
    std::vector<typename decltype(reader(*this))::value_type> values;
    for (const JsonReader& element : found) {
      TFAOT_ASSIGN(auto value, reader(element));
      values.push_back(std::move(value));
    }
    return values;
  }

 private:
  // `value`, which is at `place` in the same document.
  JsonReader at(const nlohmann::json& value, std::string place) const {
    JsonReader reader = *this;
    reader.value_ = &value;
    reader.place_ = std::move(place);
    return reader;
  }

  const nlohmann::json* value_;
  std::shared_ptr<const std::string> file_;
  std::string place_;  // "signature.inputs[0]", empty for the document
};

// Error with line and column if `text` is not JSON, or an error if it is nested too deeply.
Result<nlohmann::json> parse_json(const std::string& text, const std::string& file);

}  // namespace tfaot::toolkit
