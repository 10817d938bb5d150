// Use tfaot::Model<cms::models::TagNet>, of CMSSW's PhysicsTools/TensorFlowAOT, as shown below.
// Made by tfaot from model TagNet, version 2024a. Do not edit.
//
// cms::models::TagNet, version 2024a, for CMSSW's PhysicsTools/TensorFlowAOT
//   Tags.
//
// Inputs (element type and shape of one row; a batch holds any number of rows):
//   image: float32 [28, 28, 3]
//   mask: bool [5]
//   weight: float64 []
// Outputs:
//   class: int64 []
//   counts: int32 [2, 3]
//   valid: bool []
// Compiled for batch sizes 1, 8 and CPU levels x86-64, x86-64-v3.
//
// Usage:
//   #include "tfaot-model-TagNet/model.h"
//   tfaot::Model<cms::models::TagNet> model;
//   tfaot::FloatArrays image(rows, std::vector<float>(2352));
//   tfaot::BoolArrays mask(rows, std::vector<bool>(5));
//   tfaot::DoubleArrays weight(rows, std::vector<double>(1));
//   auto [class_, counts, valid] = model.run<tfaot::Int64Arrays, tfaot::Int32Arrays, tfaot::BoolArrays>(rows, image, mask, weight);
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#if !__has_include("PhysicsTools/TensorFlowAOT/interface/Model.h")
#error "compiled with 'headers: cmssw', which needs CMSSW's PhysicsTools/TensorFlowAOT; see docs/cmssw.md"
#endif
#ifdef TFAOT_RUNTIME_COMPATIBLE_API
#error "tfaot's own tfaot::Model was included before this header, which needs CMSSW's. Include models with 'headers: cmssw' and others in \
different source files (docs/cmssw.md)"
#include "one flavour of headers in each source file"  // not there: the compiler stops here
#endif
#include "tfaot/runtime/description.h"

static_assert(::tfaot::takes_tables(7),
              "tfaot-model-TagNet was made by tfaot 0.0.0, but the first tfaot/runtime in the include path is of tfaot "
              TFAOT_RUNTIME_VERSION ". Put the newest of all packages first, which takes the older models too (scram: set up its "
              "tfaot-runtime.xml); where that is not enough, compile the older ones again.");

#include "FWCore/Utilities/interface/Exception.h"
#include "PhysicsTools/TensorFlowAOT/interface/Model.h"
#include "PhysicsTools/TensorFlowAOT/interface/Wrapper.h"

#include "tfaot/runtime/batch_plan.h"
#include "tfaot/runtime/error.h"
#include "tfaot/runtime/instance.h"

#include "TagNet_bs1.h"
#include "TagNet_bs8.h"

namespace cms::models {
inline namespace build_6fbae5eab943d672 {

/// The model TagNet, version 2024a, for tfaot::Model of CMSSW. One object is for one thread at a time.
class TagNet : public ::tfaot::Wrapper {
 public:
  /// Throws cms::Exception (UnsupportedCpu).
  explicit TagNet(const ::std::string& name = "cms::models_TagNet") try
      : ::tfaot::Wrapper(name),
        xla_function_bs1_(allocMode()),
        xla_function_bs8_(allocMode()) {
  } catch (const ::tfaot::Error& error) {
    as_cms_exception(error);
  }
  TagNet(const TagNet&) = delete;
  TagNet& operator=(const TagNet&) = delete;
  TagNet& operator=(TagNet&&) = delete;
  ~TagNet() override = default;

  /// The compiled batch sizes, ascending.
  TFAOT_HIDDEN const ::std::vector<::std::size_t>& batchSizes() const override {
    static const ::std::vector<::std::size_t> kBatchSizes = {1, 8};
    return kBatchSizes;
  }

  /// Number of the model's inputs alone; weights are set by the constructor.
  ::std::size_t nArgs() const override { return 3; }
  /// Elements of each argument, by batch size.
  TFAOT_HIDDEN const ::std::map<::std::size_t, ::std::vector<::std::size_t>>& argCounts() const override {
    static const ::std::map<::std::size_t, ::std::vector<::std::size_t>> kCounts = {
        {1, {2352, 5, 1}},
        {8, {18816, 40, 8}},
    };
    return kCounts;
  }
  /// Elements of one row of each argument.
  TFAOT_HIDDEN const ::std::vector<::std::size_t>& argCountsNoBatch() const override {
    static const ::std::vector<::std::size_t> kCounts = {2352, 5, 1};
    return kCounts;
  }

  /// Number of results.
  ::std::size_t nResults() const override { return 3; }
  /// Elements of each result, by batch size.
  TFAOT_HIDDEN const ::std::map<::std::size_t, ::std::vector<::std::size_t>>& resultCounts() const override {
    static const ::std::map<::std::size_t, ::std::vector<::std::size_t>> kCounts = {
        {1, {1, 6, 1}},
        {8, {8, 48, 8}},
    };
    return kCounts;
  }
  /// Elements of one row of each result.
  TFAOT_HIDDEN const ::std::vector<::std::size_t>& resultCountsNoBatch() const override {
    static const ::std::vector<::std::size_t> kCounts = {1, 6, 1};
    return kCounts;
  }

  /// Memory of one argument. T is checked. Throws cms::Exception: UnknownBatchSize, UnknownArgument, InputMismatch.
  template <typename T>
  T* argData(::std::size_t batchSize, ::std::size_t argIndex) {
    ::tfaot::XlaFunction& function = function_of(batchSize, "argData()");
    check_argument<T>(argIndex, "argData()");
    return static_cast<T*>(function.arg_data(argIndex));
  }
  /// The same to read.
  template <typename T>
  const T* argData(::std::size_t batchSize, ::std::size_t argIndex) const {
    const ::tfaot::XlaFunction& function = function_of(batchSize, "const argData()");
    check_argument<T>(argIndex, "const argData()");
    return static_cast<const T*>(function.arg_data(argIndex));
  }
  /// Memory of one result. T is checked. Throws cms::Exception: UnknownBatchSize, UnknownResult, OutputMismatch.
  template <typename T>
  T* resultData(::std::size_t batchSize, ::std::size_t resultIndex) {
    ::tfaot::XlaFunction& function = function_of(batchSize, "resultData()");
    check_result<T>(resultIndex, "resultData()");
    return static_cast<T*>(function.result_data(resultIndex));
  }
  /// The same to read.
  template <typename T>
  const T* resultData(::std::size_t batchSize, ::std::size_t resultIndex) const {
    const ::tfaot::XlaFunction& function = function_of(batchSize, "const resultData()");
    check_result<T>(resultIndex, "const resultData()");
    return static_cast<const T*>(function.result_data(resultIndex));
  }

  /// For BatchStrategy::setRule(): the cheapest way to run so many rows, by what 'tfaot tune' measured if it did. CMSSW's own default
  /// repeats the smallest size. Throws cms::Exception: UnsupportedCpu; EmptySizes for 0 rows, as CMSSW has no rule for them.
  TFAOT_HIDDEN static ::tfaot::BatchRule cheapestRule(::std::size_t rows) {
    if (rows == 0) {
      throw ::cms::Exception("EmptySizes") << "cms::models::TagNet::cheapestRule(0): no rule has 0 rows, and CMSSW's Model runs none";
    }
    const ::tfaot::BatchPlan& plan = batch_plan();
    ::std::vector<::std::size_t> sizes;
    ::std::size_t covered = 0;
    for (; covered < rows; covered += sizes.back()) sizes.push_back(plan.sizes()[plan.next(rows - covered)]);
    return ::tfaot::BatchRule(rows, sizes, covered - rows);
  }

  /// Runs the arguments of a batch size into its results. Throws cms::Exception (UnknownBatchSize).
  bool runSilent(::std::size_t batchSize) override { return function_of(batchSize, "runSilent()").Run(); }

 private:
  [[noreturn]] static void as_cms_exception(const ::tfaot::Error& error) {
    throw ::cms::Exception(error.category()) << error.what();
  }

  // CMSSW's Model runs whole batches, so rows of padding cost what the others do.
  TFAOT_HIDDEN static const ::tfaot::BatchPlan& batch_plan() try {
    static const ::tfaot::BatchPlan kPlan =
        ::tfaot::Instance(TagNet_tables::description()).batch_plan(::tfaot::Padding::kComputed);
    return kPlan;
  } catch (const ::tfaot::Error& error) {
    as_cms_exception(error);
  }

  const ::tfaot::XlaFunction& function_of(::std::size_t batch_size, const char* method) const {
    if (batch_size == 1) return xla_function_bs1_;
    if (batch_size == 8) return xla_function_bs8_;
    unknownBatchSize(batch_size, method);  // throws
    return xla_function_bs1_;
  }
  ::tfaot::XlaFunction& function_of(::std::size_t batch_size, const char* method) {
    return const_cast<::tfaot::XlaFunction&>(static_cast<const TagNet*>(this)->function_of(batch_size, method));
  }

  template <typename T>
  void check_argument(::std::size_t index, const char* method) const {
    if (index >= 3) unknownArgument(index, method);
    check_type("InputMismatch", TagNet_tables::description().inputs[index], ::tfaot::element_type<T>());
  }
  template <typename T>
  void check_result(::std::size_t index, const char* method) const {
    if (index >= 3) unknownResult(index, method);
    check_type("OutputMismatch", TagNet_tables::description().outputs[index], ::tfaot::element_type<T>());
  }
  void check_type(const char* category, const ::tfaot::TensorInfo& tensor, ::tfaot::DType type) const {
    if (tensor.dtype == type) return;
    throw ::cms::Exception(category) << "model '" << name() << "': '" << tensor.name << "' is of type "
                                     << ::tfaot::name_of(tensor.dtype) << ", not " << ::tfaot::name_of(type);
  }

  TagNet_bs1 xla_function_bs1_;
  TagNet_bs8 xla_function_bs8_;
};

}  // namespace build_6fbae5eab943d672
}  // namespace cms::models
