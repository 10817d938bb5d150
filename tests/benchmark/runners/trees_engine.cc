// SPDX-License-Identifier: Apache-2.0
// Engines for boosted trees, by the word of "engine": XGBoost's own predictor through its C
// interface, with one thread; and the libraries that TL2cgen and lleaves make of a model
// (make_trees.py), whose functions are called without their interfaces to Python. Inputs are in
// place; XGBoost's outputs, too. One input and one output of float32.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::runner {
namespace {

class TreesEngine : public Engine {
 public:
  explicit TreesEngine(const Settings& settings)
      : library_(settings.get("library")), features_(settings.inputs.at(0).row_elements()) {}

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    rows_ = rows;
    input_ = static_cast<const float*>(inputs.at(0));
    results_.assign(rows, 0);
  }
  std::vector<const void*> outputs() override { return {results_.data()}; }

 protected:
  SharedLibrary library_;
  std::size_t features_;
  std::size_t rows_ = 0;
  const float* input_ = nullptr;
  std::vector<float> results_;
};

class XgboostEngine : public TreesEngine {
 public:
  explicit XgboostEngine(const Settings& settings)
      : TreesEngine(settings), predict_(library_.find<Predict>("XGBoosterPredictFromDense")) {
    using Create = int(const Handle* matrices, std::uint64_t count, Handle* booster);
    using Load = int(Handle booster, const char* path);
    using Set = int(Handle booster, const char* name, const char* value);
    check(library_.find<Create>("XGBoosterCreate")(nullptr, 0, &booster_));
    check(library_.find<Load>("XGBoosterLoadModel")(booster_, settings.get("model").c_str()));
    check(library_.find<Set>("XGBoosterSetParam")(booster_, "nthread", "1"));
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    TreesEngine::prepare(rows, inputs);
    // NumPy's array interface
    array_ = R"({"data": [)" + std::to_string(reinterpret_cast<std::uintptr_t>(input_)) +
             R"(, true], "shape": [)" + std::to_string(rows) + ", " + std::to_string(features_) +
             R"(], "typestr": "<f4", "version": 3})";
  }

  void run() override {
    const std::uint64_t* shape = nullptr;
    std::uint64_t dimensions = 0;
    check(predict_(booster_, array_.c_str(), kPredictions, nullptr, &shape, &dimensions, &result_));
  }

  std::vector<const void*> outputs() override { return {result_}; }

  std::string version() override {
    int parts[3];
    library_.find<void(int*, int*, int*)>("XGBoostVersion")(&parts[0], &parts[1], &parts[2]);
    return std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." +
           std::to_string(parts[2]);
  }

 private:
  using Handle = void*;
  using Predict = int(Handle booster, const char* array, const char* settings, Handle matrix,
                      const std::uint64_t** shape, std::uint64_t* dimensions, const float** result);
  static constexpr char kPredictions[] =
      R"({"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0,)"
      R"( "strict_shape": false, "missing": NaN, "cache_id": 0})";

  void check(int status) {
    if (status == 0) return;
    throw std::runtime_error(library_.find<const char*()>("XGBGetLastError")());
  }

  Predict* predict_;
  Handle booster_ = nullptr;
  std::string array_;
  const float* result_ = nullptr;
};

// One row a call. The code's union of a feature holds the float32 as it is, and is not written.
class Tl2cgenEngine : public TreesEngine {
 public:
  explicit Tl2cgenEngine(const Settings& settings)
      : TreesEngine(settings), predict_(library_.find<Predict>("predict")) {}

  void run() override {
    std::ranges::fill(results_, 0.0F);  // it adds
    for (std::size_t row = 0; row < rows_; ++row) {
      predict_(input_ + row * features_, 1, &results_[row]);
    }
  }

 private:
  using Predict = void(const float* features, int pred_margin, float* result);
  Predict* predict_;
};

class LleavesEngine : public TreesEngine {
 public:
  explicit LleavesEngine(const Settings& settings)
      : TreesEngine(settings), predict_(library_.find<Predict>("forest_root")) {}

  void run() override {
    std::ranges::fill(results_, 0.0F);  // it adds
    predict_(input_, results_.data(), 0, static_cast<std::int32_t>(rows_));
  }

 private:
  using Predict = void(const float* features, float* results, std::int32_t begin, std::int32_t end);
  Predict* predict_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  const std::string engine = settings.get("engine");
  if (engine == "xgboost") return std::make_unique<XgboostEngine>(settings);
  if (engine == "tl2cgen") return std::make_unique<Tl2cgenEngine>(settings);
  if (engine == "lleaves") return std::make_unique<LleavesEngine>(settings);
  throw std::runtime_error("no engine '" + engine + "'");
}

}  // namespace tfaot::runner
