// SPDX-License-Identifier: Apache-2.0
// A package's code as `tfaot run` loads it: library, manifest and record are files that the parent
// made. cpu_level and batch_rule are as of Predictor; `counters` is
// of code that counts.
#include <malloc.h>

#include <stdexcept>
#include <utility>

#include "operation_counters.h"
#include "runner.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/compiled_model_json.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::runner {
namespace {

template <class Value>
Value value_of(toolkit::Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(result).value();
}

toolkit::CompiledModel read_record(const std::string& path) {
  const std::string text = value_of(toolkit::RealFileSystem().read(path));
  return value_of(toolkit::read_document<toolkit::CompiledModel>(text, {path, "not a record"}));
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
      : outputs_of_(settings.outputs), predictor_(load(settings)) {
    malloc_trim(0);  // what reading the records took
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    rows_ = rows;
    inputs_ = inputs;
    memory_.allocate(outputs_of_, rows);
  }

  void run() override {
    const toolkit::Status ran = predictor_.run(rows_, inputs_, memory_.pointers());
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

  std::vector<Tensor> outputs_of_;
  toolkit::Predictor predictor_;
  std::size_t rows_ = 0;
  std::vector<const void*> inputs_;
  OutputMemory memory_;
};

}  // namespace

std::unique_ptr<Engine> make_package_engine(const Settings& settings) {
  return std::make_unique<PackageEngine>(settings);
}

}  // namespace tfaot::runner
