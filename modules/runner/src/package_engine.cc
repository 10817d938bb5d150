// SPDX-License-Identifier: Apache-2.0
// A package's code as `tfaot run` loads it: library, manifest and record are files that the parent
// made. cpu_level and batch_rule are as of Predictor; `sizes` are those of the free dimensions, and
// `counters` is of code that counts.
#include "tfaot/records/manifest_json.h"

#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runner.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot::runner {
namespace {

// Counters of instrumented code (tfaot/records/counted_code.h). The runtime calls an entry without
// counters, so each entry is replaced by a function that adds them. For one thread and the life of
// the process.

constexpr std::size_t kMostEntries = 64;

struct CountedEntry {
  std::int64_t batch_size = 0;
  EntryFunction entry = nullptr;
  std::vector<std::int64_t> counters;
};

// A function of XLA's convention has no room for a pointer to these.
std::array<CountedEntry, kMostEntries> entries;
std::size_t used = 0;

template <std::size_t Number>
void call_counted(void* result, const void* options, const void** arguments, void** buffers,
                  void* status, std::int64_t*) {
  CountedEntry& counted = entries[Number];
  counted.entry(result, options, arguments, buffers, status, counted.counters.data());
}

template <std::size_t... Numbers>
constexpr std::array<EntryFunction, kMostEntries> functions_of(std::index_sequence<Numbers...>) {
  return {&call_counted<Numbers>...};
}
constexpr auto kFunctions = functions_of(std::make_index_sequence<kMostEntries>());

// The function that calls `entry` with `counters` counters of its own. Throws after some dozens.
EntryFunction counted_entry(std::int64_t batch_size, EntryFunction entry, std::size_t counters) {
  if (used == kMostEntries) throw std::runtime_error("too many batch sizes and levels to count");
  entries[used] = {batch_size, entry, std::vector<std::int64_t>(counters)};
  return kFunctions[used++];
}

// Of the code of a batch size, added up since the start; empty if there is none.
std::vector<std::int64_t> counters_of(std::int64_t batch_size) {
  for (const CountedEntry& counted : entries) {
    if (counted.batch_size == batch_size) return counted.counters;
  }
  return {};
}

template <class Value>
Value value_of(toolkit::Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(result).value();
}

toolkit::CompiledModel read_record(const std::string& path) {
  const std::string text = value_of(toolkit::RealFileSystem().read(path));
  return value_of(toolkit::compiled_model_from_json(text, path));
}

// Settings "counters=BATCH_SIZE NUMBER" for code that counts, one for each.
toolkit::WrapEntry wrap_of(const Settings& settings) {
  std::map<std::int64_t, std::size_t> counters;
  for (const std::string& text : settings.all("counters")) {
    counters[std::stoll(text)] = std::stoul(text.substr(text.find(' ')));
  }
  if (counters.empty()) return {};
  return [counters](const toolkit::CompiledCode& code, EntryFunction entry) {
    const auto found = counters.find(code.batch_size);
    if (found == counters.end()) throw std::runtime_error("a batch size without counters");
    return counted_entry(code.batch_size, entry, found->second);
  };
}

class PackageEngine : public Engine {
 public:
  explicit PackageEngine(const Settings& settings)
      : outputs_of_(settings.outputs), predictor_(load(settings)), sizes_(sizes_of(settings)) {
    malloc_trim(0);  // what reading the records took
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    rows_ = rows;
    inputs_ = inputs;
    memory_.allocate(outputs_of_, rows);
  }

  void run() override {
    const toolkit::Status ran = predictor_.run(rows_, inputs_, memory_.pointers(),
                                               sizes_.empty() ? nullptr : sizes_.data());
    if (!ran) throw std::runtime_error(ran.error().text());
  }

  std::vector<const void*> outputs() override { return memory_.contents(); }
  std::vector<std::int64_t> operations() override {
    return counters_of(static_cast<std::int64_t>(rows_));
  }

 private:
  static toolkit::Predictor load(const Settings& settings) {
    const std::string manifest = settings.get("manifest");
    auto model = value_of(toolkit::LoadedModel::open(
        settings.get("library"),
        value_of(toolkit::read_manifest(toolkit::RealFileSystem(), manifest)),
        read_record(settings.get("record")), wrap_of(settings)));
    return value_of(toolkit::Predictor::create(
        std::move(model), {settings.get("cpu_level"), settings.all("batch_rule")}));
  }

  // "37,4"
  static std::vector<std::int64_t> sizes_of(const Settings& settings) {
    std::vector<std::int64_t> sizes;
    std::istringstream words(settings.get("sizes"));
    for (std::string size; std::getline(words, size, ',');) sizes.push_back(std::stoll(size));
    return sizes;
  }

  std::vector<Tensor> outputs_of_;
  toolkit::Predictor predictor_;
  std::vector<std::int64_t> sizes_;  // of the free dimensions; empty: none, or the largest
  std::size_t rows_ = 0;
  std::vector<const void*> inputs_;
  OutputMemory memory_;
};

}  // namespace

std::unique_ptr<Engine> make_package_engine(const Settings& settings) {
  return std::make_unique<PackageEngine>(settings);
}

}  // namespace tfaot::runner
