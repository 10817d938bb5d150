// SPDX-License-Identifier: Apache-2.0
#include "graph/pure_operations.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/types.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Operations without an XLA kernel that only compute. Sorted. Before you add one, read its kernel.
constexpr std::array<std::string_view, 191> kComputing = {"AdjustContrast",
                                                          "AsString",
                                                          "AudioSpectrogram",
                                                          "BandedTriangularSolve",
                                                          "BatchCholesky",
                                                          "BatchMatrixBandPart",
                                                          "BatchMatrixDeterminant",
                                                          "BatchMatrixDiag",
                                                          "BatchMatrixDiagPart",
                                                          "BatchMatrixInverse",
                                                          "BatchMatrixSetDiag",
                                                          "BatchMatrixSolve",
                                                          "BatchMatrixSolveLs",
                                                          "BatchMatrixTriangularSolve",
                                                          "BatchNormWithGlobalNormalization",
                                                          "BatchSelfAdjointEig",
                                                          "BatchSelfAdjointEigV2",
                                                          "BatchSvd",
                                                          "BesselI0",
                                                          "BesselI1",
                                                          "BesselJ0",
                                                          "BesselJ1",
                                                          "BesselK0",
                                                          "BesselK0e",
                                                          "BesselK1",
                                                          "BesselK1e",
                                                          "BesselY0",
                                                          "BesselY1",
                                                          "BlockLSTM",
                                                          "BlockLSTMV2",
                                                          "CSRSparseMatrixToDense",
                                                          "CholeskyGrad",
                                                          "CombinedNonMaxSuppression",
                                                          "ComputeAccidentalHits",
                                                          "CropAndResize",
                                                          "Dawsn",
                                                          "DecodeBase64",
                                                          "DecodeCSV",
                                                          "DecodePaddedRaw",
                                                          "DecodeRaw",
                                                          "DenseCountSparseOutput",
                                                          "DenseToDenseSetOperation",
                                                          "DenseToSparseSetOperation",
                                                          "Dilation2D",
                                                          "EditDistance",
                                                          "Eig",
                                                          "EncodeBase64",
                                                          "EuclideanNorm",
                                                          "Expint",
                                                          "ExtractGlimpse",
                                                          "ExtractGlimpseV2",
                                                          "ExtractVolumePatches",
                                                          "Fingerprint",
                                                          "FresnelCos",
                                                          "FresnelSin",
                                                          "FusedPadConv2D",
                                                          "FusedResizeAndPadConv2D",
                                                          "GRUBlockCell",
                                                          "HistogramFixedWidth",
                                                          "HostConst",
                                                          "ImageProjectiveTransformV2",
                                                          "ImageProjectiveTransformV3",
                                                          "InTopK",
                                                          "InplaceAdd",
                                                          "InplaceSub",
                                                          "InplaceUpdate",
                                                          "InvGrad",
                                                          "IsotonicRegression",
                                                          "LSTMBlockCell",
                                                          "LogMatrixDeterminant",
                                                          "Lu",
                                                          "MatrixDeterminant",
                                                          "MatrixExponential",
                                                          "MatrixLogarithm",
                                                          "MatrixSolveLs",
                                                          "MatrixSquareRoot",
                                                          "MaxPoolWithArgmax",
                                                          "Mfcc",
                                                          "NonMaxSuppression",
                                                          "NonMaxSuppressionV2",
                                                          "NonMaxSuppressionV5",
                                                          "NonMaxSuppressionWithOverlaps",
                                                          "NthElement",
                                                          "ParallelConcat",
                                                          "ParseTensor",
                                                          "QuantizeAndDequantize",
                                                          "QuantizeDownAndShrinkRange",
                                                          "QuantizeV2",
                                                          "QuantizedAdd",
                                                          "QuantizedAvgPool",
                                                          "QuantizedBiasAdd",
                                                          "QuantizedConcat",
                                                          "QuantizedConv2D",
                                                          "QuantizedMatMul",
                                                          "QuantizedMaxPool",
                                                          "QuantizedMul",
                                                          "QuantizedRelu",
                                                          "QuantizedRelu6",
                                                          "QuantizedReshape",
                                                          "RaggedBincount",
                                                          "RaggedCountSparseOutput",
                                                          "RaggedCross",
                                                          "RaggedFillEmptyRows",
                                                          "RaggedGather",
                                                          "RaggedRange",
                                                          "RaggedTensorToSparse",
                                                          "RaggedTensorToTensor",
                                                          "ReduceJoin",
                                                          "RegexFullMatch",
                                                          "RegexReplace",
                                                          "RequantizationRange",
                                                          "Requantize",
                                                          "ResizeArea",
                                                          "ResizeBicubic",
                                                          "ScaleAndTranslate",
                                                          "ScatterNdNonAliasingAdd",
                                                          "SegmentMax",
                                                          "SegmentMean",
                                                          "SegmentMin",
                                                          "SegmentProd",
                                                          "SegmentSum",
                                                          "SelfAdjointEig",
                                                          "SerializeTensor",
                                                          "SetSize",
                                                          "ShardedFilename",
                                                          "SparseAdd",
                                                          "SparseBincount",
                                                          "SparseConcat",
                                                          "SparseCountSparseOutput",
                                                          "SparseCross",
                                                          "SparseCrossHashed",
                                                          "SparseCrossV2",
                                                          "SparseDenseCwiseAdd",
                                                          "SparseDenseCwiseDiv",
                                                          "SparseDenseCwiseMul",
                                                          "SparseFillEmptyRows",
                                                          "SparseReduceMax",
                                                          "SparseReduceMaxSparse",
                                                          "SparseReduceSum",
                                                          "SparseReduceSumSparse",
                                                          "SparseReorder",
                                                          "SparseReshape",
                                                          "SparseSegmentMean",
                                                          "SparseSegmentMeanWithNumSegments",
                                                          "SparseSegmentSqrtN",
                                                          "SparseSegmentSqrtNWithNumSegments",
                                                          "SparseSegmentSum",
                                                          "SparseSegmentSumWithNumSegments",
                                                          "SparseSlice",
                                                          "SparseSoftmax",
                                                          "SparseSparseMaximum",
                                                          "SparseSparseMinimum",
                                                          "SparseSplit",
                                                          "SparseTensorDenseAdd",
                                                          "SparseTensorDenseMatMul",
                                                          "SparseToSparseSetOperation",
                                                          "Spence",
                                                          "StaticRegexFullMatch",
                                                          "StaticRegexReplace",
                                                          "StringFormat",
                                                          "StringJoin",
                                                          "StringLength",
                                                          "StringLower",
                                                          "StringNGrams",
                                                          "StringSplit",
                                                          "StringSplitV2",
                                                          "StringStrip",
                                                          "StringToHashBucket",
                                                          "StringToHashBucketFast",
                                                          "StringToHashBucketStrong",
                                                          "StringToNumber",
                                                          "StringUpper",
                                                          "Substr",
                                                          "TensorListConcat",
                                                          "TensorListConcatLists",
                                                          "TensorListPushBackBatch",
                                                          "TensorListResize",
                                                          "TensorListScatter",
                                                          "TensorListScatterIntoExistingList",
                                                          "TensorListScatterV2",
                                                          "TileGrad",
                                                          "TopK",
                                                          "UnicodeDecode",
                                                          "UnicodeDecodeWithOffsets",
                                                          "UnicodeEncode",
                                                          "UnicodeScript",
                                                          "UnicodeTranscode",
                                                          "UniqueWithCounts",
                                                          "UniqueWithCountsV2",
                                                          "UnravelIndex",
                                                          "UnsortedSegmentJoin"};
static_assert(std::is_sorted(kComputing.begin(), kComputing.end()));

// Loops and branches of TensorFlow 1, which become functions. Placeholders are reported elsewhere.
constexpr std::array<std::string_view, 15> kStructure = {
    "Enter",         "Exit",      "LoopCond", "Merge",       "NextIteration", "Placeholder",
    "PlaceholderV2", "RefEnter",  "RefExit",  "RefIdentity", "RefMerge",      "RefNextIteration",
    "RefSelect",     "RefSwitch", "Switch"};
static_assert(std::is_sorted(kStructure.begin(), kStructure.end()));

// XLA would compile them to calls of functions whose names the model chooses.
constexpr std::array<std::string_view, 2> kCallingByName = {"XlaCustomCall", "XlaCustomCallV2"};

// In the order of their names; an operation may have several, for different types.
const std::vector<const tf::KernelDef*>& xla_kernels() {
  static const std::vector<const tf::KernelDef*> all = [] {
    tf::XlaOpRegistry::RegisterCompilationKernels();
    auto kernels = tf::XlaOpRegistry::DeviceKernels(tf::DEVICE_CPU_XLA_JIT, true);
    std::ranges::stable_sort(kernels, {}, [](const auto* kernel) { return kernel->op(); });
    return kernels;
  }();
  return all;
}

template <class Names>
bool holds(const Names& names, std::string_view operation) {
  return std::binary_search(names.begin(), names.end(), operation);
}

bool has_xla_kernel(const std::string& operation) {
  static const std::set<std::string> known = [] {
    std::set<std::string> names;
    for (const auto* kernel : xla_kernels()) {
      if (!holds(kCallingByName, kernel->op())) names.insert(kernel->op());
    }
    return names;
  }();
  return known.contains(operation);
}

bool is_stateless(const std::string& operation) {
  const tf::OpDef* definition = nullptr;
  return tf::OpRegistry::Global()->LookUpOpDef(operation, &definition).ok() &&
         !definition->is_stateful();
}

}  // namespace

// XLA's kernels of stateless operations describe a computation; TensorFlow's versions execute it.
bool is_pure(const std::string& operation) {
  return holds(kComputing, operation) || (has_xla_kernel(operation) && is_stateless(operation));
}

bool is_compiled(const std::string& operation) {
  return has_xla_kernel(operation) || connects(operation);
}

bool connects(const std::string& operation) { return holds(kStructure, operation); }

bool calls_by_name(const std::string& operation) { return holds(kCallingByName, operation); }

std::vector<const tf::KernelDef*> kernels_of(const std::string& operation) {
  const auto& all = xla_kernels();
  std::vector<const tf::KernelDef*> found;
  for (auto kernel = std::ranges::lower_bound(all, operation, {}, &tf::KernelDef::op);
       kernel != all.end() && (*kernel)->op() == operation; ++kernel) {
    found.push_back(*kernel);
  }
  return found;
}

std::vector<std::string> operations_with_kernel() {
  std::vector<std::string> names;
  for (const auto* kernel : xla_kernels()) {
    if (names.empty() || names.back() != kernel->op()) names.push_back(kernel->op());
  }
  return names;
}

}  // namespace tfaot::toolkit::engine
