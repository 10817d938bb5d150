// SPDX-License-Identifier: Apache-2.0
// The C interface of a library that 'tfaot link' or 'tfaot install --link' made, for C99 and every
// language that calls C (docs/models_at_run_time.md). C++ programs have tfaot/runtime/models.h over
// it. Link the library, or open it with dlopen() and look up the functions below.
//
// It grows and stays compatible: functions are never removed or changed, and have the symbol
// version TFAOT_1. Each struct begins with `size`, which the caller sets to sizeof the struct. A
// library reads and writes only that many bytes, and sets `size` to what it filled. What came with
// a later version says so: (2).
//
// Functions that can fail return a tfaot_status, and put a text into `error` unless it is null.
// Nothing throws. Texts are UTF-8. All functions are safe from many threads, except that one model
// is for one thread at a time.
#ifndef TFAOT_RUNTIME_TFAOT_H
#define TFAOT_RUNTIME_TFAOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFAOT_API __attribute__((visibility("default")))

/// The version of this header. A library of the same or a higher version has all that is in it.
#define TFAOT_MODELS_INTERFACE 2

/// What a function returns; 0 is success.
typedef enum tfaot_status {
  TFAOT_OK = 0,
  TFAOT_NO_SUCH_MODEL = 1,       ///< no model of this name, or no version in the range
  TFAOT_WRONG_CALL = 2,          ///< a null pointer, a wrong `size`, a text that is not a range
  TFAOT_INPUT_MISMATCH = 3,      ///< number, name, type, shape or rows of inputs
  TFAOT_OUTPUT_MISMATCH = 4,     ///< the same for outputs
  TFAOT_UNKNOWN_BATCH_SIZE = 5,  ///< rows are coupled, and this number of rows is not compiled
  TFAOT_UNSUPPORTED_CPU = 6,     ///< no code for this CPU, or for the level of TFAOT_CPU_LEVEL
  TFAOT_CONCURRENT_USE = 7,      ///< a model is run while it runs
  TFAOT_NO_MEMORY = 8,           ///< memory could not be allocated
  TFAOT_NO_LIBRARY = 9,          ///< for C++: no library, or none that can be loaded
  TFAOT_FAILED = 10,             ///< anything else
  TFAOT_SIZE_OUT_OF_RANGE = 11   ///< (2) a free dimension has no such size
} tfaot_status;

/// The type of a tensor's elements.
typedef enum tfaot_dtype {
  TFAOT_BOOL = 0,
  TFAOT_INT8,
  TFAOT_INT16,
  TFAOT_INT32,
  TFAOT_INT64,
  TFAOT_UINT8,
  TFAOT_UINT16,
  TFAOT_UINT32,
  TFAOT_UINT64,
  TFAOT_FLOAT16,
  TFAOT_BFLOAT16,
  TFAOT_FLOAT32,
  TFAOT_FLOAT64
} tfaot_dtype;

/// What went wrong. The text ends with a 0 and is cut if it is too long.
typedef struct tfaot_error {
  uint32_t size;    ///< sizeof(tfaot_error)
  int32_t status;   ///< a tfaot_status
  char text[1016];  ///< "no model 'taggr': the library has tagger 1.0.0"
} tfaot_error;

/// Which model this is. The texts live as long as the library is loaded.
typedef struct tfaot_record {
  uint32_t size;           ///< sizeof(tfaot_record)
  uint32_t reserved;       ///< 0
  const char* model_name;  ///< `model.name` of the config
  const char* version;     ///< `model.version` of the config
  int64_t record_version;  ///< the version as a number, as `tfaot info --record` has it; 0: none
  const char* hash;        ///< SHA-256 of code and weights, as there; "" in older packages
  const char* cpu_level;   ///< of the code that runs, "x86-64-v3"; null for a model not opened yet
  const char* instructions;  ///< beyond the level's that kernels use here, "avx512vnni"; "": none
} tfaot_record;

/// Which model tfaot_models_open() opens.
typedef struct tfaot_request {
  uint32_t size;         ///< sizeof(tfaot_request)
  uint32_t reserved;     ///< 0
  const char* name;      ///< of the model
  const char* versions;  ///< a range such as ">=1.2 <2"; null or "": any. The newest one is taken.
} tfaot_request;

/// How many inputs and outputs a model has, and which numbers of rows are compiled.
typedef struct tfaot_signature {
  uint32_t size;                ///< sizeof(tfaot_signature)
  uint32_t coupled_rows;        ///< 1: only the compiled numbers of rows run
  uint32_t input_count;         ///< of tfaot_models_input()
  uint32_t output_count;        ///< of tfaot_models_output()
  const uint64_t* batch_sizes;  ///< compiled numbers of rows, ascending
  uint64_t batch_size_count;    ///< of batch_sizes
  uint32_t dimension_count;     ///< (2) of tfaot_models_dimension(); 0: all sizes are fixed
  uint32_t reserved;            ///< 0
} tfaot_signature;

/// (2) A dimension of inputs whose size each call chooses (docs/dimensions.md). The text lives as
/// long as the library is loaded.
typedef struct tfaot_dimension {
  uint32_t size;      ///< sizeof(tfaot_dimension)
  uint32_t reserved;  ///< 0
  const char* name;   ///< in the model, such as "n_tracks"
  int64_t smallest;   ///< size
  int64_t largest;    ///< size
} tfaot_dimension;

/// (2) What an axis of tfaot_tensor's `axes` is, if it is no free dimension.
enum {
  TFAOT_FIXED_SIZE = -1,    ///< its size is the same in all calls
  TFAOT_FOLLOWS_SIZES = -2  ///< it follows the free sizes: tfaot_models_input_shape()
};

/// One input or output. Tensors are row-major, the rows of a call one after another. The texts and
/// numbers live as long as the library is loaded.
typedef struct tfaot_tensor {
  uint32_t size;             ///< sizeof(tfaot_tensor)
  int32_t dtype;             ///< a tfaot_dtype
  const char* name;          ///< the name in the model, such as "serving/x:0"
  const int64_t* row_shape;  ///< the `rank` dimensions of one row; free ones have the largest size
  uint64_t rank;             ///< 0: a single number for each row
  uint64_t row_elements;     ///< elements of one row: the product of `row_shape`
  /// (2) For each of the `rank` dimensions: the index of the free dimension whose size it has, or
  /// one of the words above. Lives as long as the model is open. Null: all sizes are fixed.
  const int32_t* axes;
} tfaot_tensor;

/// A call. inputs[i] and outputs[i] point to `rows` rows each, in the order of the signature.
/// Outputs overlap neither each other nor an input.
typedef struct tfaot_call {
  uint32_t size;              ///< sizeof(tfaot_call)
  uint32_t input_count;       ///< of `inputs`, as in the signature
  uint32_t output_count;      ///< of `outputs`, as in the signature
  uint32_t reserved;          ///< 0
  uint64_t rows;              ///< any number, 0 included; 1 for a model without a batch
  const void* const* inputs;  ///< memory aligned to 16 bytes is used in place
  void* const* outputs;       ///< the same
  /// (2) Of each free dimension: the sizes that all rows of this call have. Null: the largest.
  const int64_t* sizes;
} tfaot_call;

/// (2) A call whose rows have different sizes. The rows of a tensor lie one after another, each
/// with the shape of its own sizes, without padding.
typedef struct tfaot_ragged_call {
  uint32_t size;             ///< sizeof(tfaot_ragged_call)
  uint32_t input_count;      ///< of `inputs`, as in the signature
  uint32_t output_count;     ///< of `outputs`, as in the signature
  uint32_t dimension_count;  ///< of `offsets`, as in the signature
  uint64_t rows;             ///< any number, 0 included
  const void* const* inputs;
  void* const* outputs;
  /// Of each free dimension: `rows` + 1 numbers, the first 0. Row i has the size
  /// offsets[d][i + 1] - offsets[d][i].
  const uint64_t* const* offsets;
  const uint64_t* input_elements;   ///< of all rows of each input; null: they are not checked
  const uint64_t* output_elements;  ///< the same for outputs
} tfaot_ragged_call;

/// An opened model, with its own memory. One thread at a time.
typedef struct tfaot_handle tfaot_handle;

/// TFAOT_MODELS_INTERFACE of the library.
TFAOT_API uint32_t tfaot_models_interface(void);

/// How many models the library has.
TFAOT_API uint32_t tfaot_models_count(void);

/// Describes model `index` of the library, without opening it.
TFAOT_API int tfaot_models_list(uint32_t index, tfaot_record* record, tfaot_error* error);

/// Opens the newest version that fits, and chooses its code for this CPU. Close it with
/// tfaot_models_close().
TFAOT_API int tfaot_models_open(const tfaot_request* request, tfaot_handle** model,
                                tfaot_error* error);

/// Opens the same model for another thread. Both share code, weights and plan.
TFAOT_API int tfaot_models_copy(const tfaot_handle* model, tfaot_handle** copy, tfaot_error* error);

/// Frees a model; null is fine. No call may be running it.
TFAOT_API void tfaot_models_close(tfaot_handle* model);

/// Which model and code this is.
TFAOT_API int tfaot_models_record(const tfaot_handle* model, tfaot_record* record,
                                  tfaot_error* error);

/// Numbers of inputs, outputs and compiled rows.
TFAOT_API int tfaot_models_signature(const tfaot_handle* model, tfaot_signature* signature,
                                     tfaot_error* error);

/// Input `index` of the signature.
TFAOT_API int tfaot_models_input(const tfaot_handle* model, uint32_t index, tfaot_tensor* tensor,
                                 tfaot_error* error);

/// Output `index` of the signature.
TFAOT_API int tfaot_models_output(const tfaot_handle* model, uint32_t index, tfaot_tensor* tensor,
                                  tfaot_error* error);

/// (2) Free dimension `index` of the signature.
TFAOT_API int tfaot_models_dimension(const tfaot_handle* model, uint32_t index,
                                     tfaot_dimension* dimension, tfaot_error* error);

/// (2) Writes the dimensions of one row of input `index` to `row_shape`, which holds as many
/// numbers as the tensor's `rank`. `sizes`: of each free dimension; null: the largest.
TFAOT_API int tfaot_models_input_shape(const tfaot_handle* model, uint32_t index,
                                       const int64_t* sizes, int64_t* row_shape,
                                       tfaot_error* error);

/// (2) The same for output `index`.
TFAOT_API int tfaot_models_output_shape(const tfaot_handle* model, uint32_t index,
                                        const int64_t* sizes, int64_t* row_shape,
                                        tfaot_error* error);

/// Allocates all memory that calls of up to `rows` rows need: they then allocate nothing. Without
/// it, the first call allocates that is padded or has memory that is not aligned to 16 bytes.
TFAOT_API int tfaot_models_prepare(tfaot_handle* model, uint64_t rows, tfaot_error* error);

/// Runs the model. Only the number of tensors and null pointers are checked.
TFAOT_API int tfaot_models_run(tfaot_handle* model, const tfaot_call* call, tfaot_error* error);

/// (2) Runs rows of different sizes. Fails before anything runs. The offsets are checked, and the
/// numbers of elements if the call has them.
TFAOT_API int tfaot_models_run_ragged(tfaot_handle* model, const tfaot_ragged_call* call,
                                      tfaot_error* error);

#ifdef __cplusplus
}
#endif

#endif
