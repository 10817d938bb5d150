// SPDX-License-Identifier: Apache-2.0
// The module tfaot._fast: a call of a model without the time that ctypes and code in Python take.
// It takes numpy's arrays as they are, if nothing must be converted. Anything else, errors too, is
// left to _model.py. By Python's stable ABI alone, so that one file serves many versions.
#define Py_LIMITED_API 0x030B0000  // Py_buffer belongs to it since 3.11
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace {

struct Drop {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Drop>;

Owned shared(PyObject* object) {
  Py_XINCREF(object);
  return Owned(object);
}

constexpr std::size_t kMostTensors = 32;      // of a fast call, inputs and outputs together
constexpr Py_ssize_t kMostKeptBytes = 65536;  // of an output that the next call may reuse

struct Tensor {
  Owned name, dtype;
  std::vector<Py_ssize_t> row_shape;  // at the sizes of the last call
  bool is_free = false;               // it follows sizes that each call chooses
  // Of an output, from the last call.
  Owned shape, array;
  Py_ssize_t rows = -1;
};

constexpr std::size_t kMostSizes = 16;  // of free dimensions in a fast call
using Sizes = std::array<std::int64_t, kMostSizes>;

// Members as _model.py gives them.
struct State {
  char* (*run)(void* model, std::uint64_t rows, const std::int64_t* sizes,
               const void* const* inputs, void* const* outputs);
  void (*free)(char* text);
  char* (*sizes_of)(const void* model, const std::int64_t* row_shapes, std::int64_t* sizes,
                    std::int64_t* at_sizes);
  void* model;
  Owned ndarray, empty, error;
  Owned dtype_word;
  Py_ssize_t weak_references = 0;  // where an array has them
  std::size_t dimensions = 0;      // free ones
  Sizes sizes{};                   // of these in the last call
  std::vector<Tensor> inputs, outputs;
};

struct Caller {
  PyObject_HEAD State* state;  // null before _bind()
};

State* state_of(PyObject* self) { return reinterpret_cast<Caller*>(self)->state; }

// The arrays of a call, which they keep alive and in their place.
class Views {
 public:
  Views() = default;
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;
  ~Views() {
    for (std::size_t i = 0; i < count_; ++i) PyBuffer_Release(&views_[i]);
  }

  // Adds an array that can be used as it is. Otherwise returns null, without an exception.
  const Py_buffer* add(const State& state, const Tensor& tensor, PyObject* array, int flags) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(array)) != state.ndarray.get()) return nullptr;
    const Owned dtype(PyObject_GetAttr(array, state.dtype_word.get()));
    Py_buffer* const view = &views_[count_];
    if (dtype == nullptr || PyObject_RichCompareBool(dtype.get(), tensor.dtype.get(), Py_EQ) != 1 ||
        PyObject_GetBuffer(array, view, flags | PyBUF_C_CONTIGUOUS) != 0) {
      PyErr_Clear();
      return nullptr;
    }
    ++count_;
    return static_cast<std::size_t>(view->ndim) == tensor.row_shape.size() + 1 ? view : nullptr;
  }
  const Py_buffer& operator[](std::size_t i) const { return views_[i]; }

  // True if the last array shares memory with one before it.
  bool last_overlaps() const {
    const Py_buffer& last = views_[count_ - 1];
    const char* const start = static_cast<const char*>(last.buf);
    return std::any_of(views_.begin(), views_.begin() + (count_ - 1), [&](const Py_buffer& one) {
      const char* const other = static_cast<const char*>(one.buf);
      return start < other + one.len && other < start + last.len;
    });
  }

 private:
  std::array<Py_buffer, kMostTensors> views_;  // the first count_
  std::size_t count_ = 0;
};

bool has_weak_references(const State& state, PyObject* array) {
  PyObject* first = nullptr;
  std::memcpy(&first, reinterpret_cast<const char*>(array) + state.weak_references, sizeof(void*));
  return first != nullptr;
}

// A new array; or that of the last call, if nobody refers to it any more.
Owned output_array(const State& state, Tensor& tensor, Py_ssize_t rows) {
  if (tensor.rows != rows) {
    tensor.array.reset();
    tensor.rows = rows;
    tensor.shape.reset(PyTuple_New(static_cast<Py_ssize_t>(tensor.row_shape.size()) + 1));
    if (tensor.shape == nullptr) return {};
    PyTuple_SetItem(tensor.shape.get(), 0, PyLong_FromSsize_t(rows));
    for (std::size_t i = 0; i < tensor.row_shape.size(); ++i) {
      PyTuple_SetItem(tensor.shape.get(), static_cast<Py_ssize_t>(i) + 1,
                      PyLong_FromSsize_t(tensor.row_shape[i]));
    }
  }
  if (tensor.array != nullptr && Py_REFCNT(tensor.array.get()) == 1 &&
      !has_weak_references(state, tensor.array.get())) {
    return shared(tensor.array.get());
  }
  const Owned shape = shared(tensor.shape.get());  // a finaliser that runs now may call the model
  return Owned(
      PyObject_CallFunctionObjArgs(state.empty.get(), shape.get(), tensor.dtype.get(), nullptr));
}

bool has_shape(const Py_buffer& view, const Tensor& tensor) {
  return std::equal(tensor.row_shape.begin(), tensor.row_shape.end(), view.shape + 1);
}

// Sets the sizes of the free dimensions to those of the inputs, and all shapes with them. False:
// the shapes fit no sizes.
bool set_sizes(State& state, const Views& inputs) {
  if (state.dimensions == 0 || state.dimensions > kMostSizes) return false;
  std::vector<std::int64_t> given;
  std::size_t count = 0;
  for (std::size_t i = 0; i < state.inputs.size(); ++i) {
    const Py_buffer& view = inputs[i];
    given.insert(given.end(), view.shape + 1, view.shape + view.ndim);
    count += state.inputs[i].row_shape.size();
  }
  for (const Tensor& output : state.outputs) count += output.row_shape.size();
  std::vector<std::int64_t> at_sizes(count);
  Sizes sizes{};
  char* const failure = state.sizes_of(state.model, given.data(), sizes.data(), at_sizes.data());
  if (failure != nullptr) {
    state.free(failure);
    return false;
  }
  if (!std::equal(given.begin(), given.end(), at_sizes.begin())) return false;
  state.sizes = sizes;
  auto next = at_sizes.begin();
  for (std::vector<Tensor>* tensors : {&state.inputs, &state.outputs}) {
    for (Tensor& tensor : *tensors) {
      const auto end = next + static_cast<std::ptrdiff_t>(tensor.row_shape.size());
      std::copy(next, end, tensor.row_shape.begin());
      next = end;
      if (tensor.is_free) tensor.rows = -1;  // its last array has another shape
    }
  }
  return true;
}

struct Call {
  PyObject* arrays;  // a tuple in the order of the inputs, or a dict by their names
  PyObject* out;     // a dict of arrays for outputs, or null
  bool makes_list;   // else a dict
};

// Null without an exception: this is no fast call.
PyObject* fast_call(State& state, const Call& call) {
  const std::size_t count = state.inputs.size();
  if (count == 0 || count + state.outputs.size() > kMostTensors || state.dimensions > kMostSizes) {
    return nullptr;
  }
  const bool by_name = PyDict_CheckExact(call.arrays);
  const Py_ssize_t given = by_name ? PyDict_Size(call.arrays) : PyTuple_Size(call.arrays);
  if (static_cast<std::size_t>(given) != count) return nullptr;

  Views views;
  std::array<const void*, kMostTensors> from;
  std::array<void*, kMostTensors> to;
  std::array<Owned, kMostTensors> arrays;  // of the outputs
  Py_ssize_t rows = 0;
  bool have_shapes = true;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& tensor = state.inputs[i];
    PyObject* const array = by_name ? PyDict_GetItemWithError(call.arrays, tensor.name.get())
                                    : PyTuple_GetItem(call.arrays, static_cast<Py_ssize_t>(i));
    const Py_buffer* const view =
        array == nullptr ? nullptr : views.add(state, tensor, array, PyBUF_SIMPLE);
    if (view == nullptr || (i > 0 && view->shape[0] != rows)) {
      PyErr_Clear();
      return nullptr;
    }
    rows = view->shape[0];
    from[i] = view->buf;
    have_shapes = have_shapes && has_shape(*view, tensor);
  }
  if (!have_shapes && !set_sizes(state, views)) return nullptr;
  const Sizes sizes = state.sizes;
  Py_ssize_t wanted = call.out == nullptr ? 0 : PyDict_Size(call.out);
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    Tensor& tensor = state.outputs[i];
    PyObject* const own =
        call.out == nullptr ? nullptr : PyDict_GetItemWithError(call.out, tensor.name.get());
    if (own != nullptr) --wanted;
    arrays[i] = own != nullptr ? shared(own) : output_array(state, tensor, rows);
    const Py_buffer* view =
        arrays[i] == nullptr ? nullptr : views.add(state, tensor, arrays[i].get(), PyBUF_WRITABLE);
    const bool fits = view != nullptr && view->shape[0] == rows && has_shape(*view, tensor);
    if (own == nullptr && !fits) {
      // Its last user gave the array another shape or made it read-only.
      tensor.array.reset();
      PyErr_Clear();
      return nullptr;
    }
    if (!fits || (own != nullptr && views.last_overlaps())) return nullptr;
    to[i] = view->buf;
    const bool is_kept = own == nullptr && view->len <= kMostKeptBytes;
    if (is_kept && tensor.array != arrays[i]) tensor.array = shared(arrays[i].get());
  }
  if (wanted != 0) return nullptr;  // an output that does not exist
  // A finaliser that ran meanwhile may have called the model with arrays of other sizes.
  if (sizes != state.sizes) return nullptr;

  PyThreadState* const thread = PyEval_SaveThread();
  char* const failure =
      state.run(state.model, static_cast<std::uint64_t>(rows),
                state.dimensions == 0 ? nullptr : sizes.data(), from.data(), to.data());
  PyEval_RestoreThread(thread);
  if (failure != nullptr) {
    const Owned text(
        PyUnicode_DecodeUTF8(failure, static_cast<Py_ssize_t>(std::strlen(failure)), "replace"));
    state.free(failure);
    if (text != nullptr) PyErr_SetObject(state.error.get(), text.get());
    return nullptr;
  }
  const auto size = static_cast<Py_ssize_t>(state.outputs.size());
  Owned result(call.makes_list ? PyList_New(size) : PyDict_New());
  for (std::size_t i = 0; result != nullptr && i < state.outputs.size(); ++i) {
    PyObject* const name = state.outputs[i].name.get();
    const int failed = call.makes_list ? PyList_SetItem(result.get(), static_cast<Py_ssize_t>(i),
                                                        arrays[i].release())
                                       : PyDict_SetItem(result.get(), name, arrays[i].get());
    if (failed != 0) result.reset();
  }
  return result.release();
}

// The same call by the method of _model.py.
PyObject* call_of_python(PyObject* self, const char* method, PyObject* args, PyObject* named) {
  const Owned function(PyObject_GetAttrString(self, method));
  return function == nullptr ? nullptr : PyObject_Call(function.get(), args, named);
}

PyObject* call(PyObject* self, PyObject* args, PyObject* named) {
  State* const state = state_of(self);
  const bool has_names = named != nullptr && PyDict_Size(named) > 0;
  if (state != nullptr && !(has_names && PyTuple_Size(args) > 0)) {
    PyObject* const result = fast_call(*state, {has_names ? named : args, nullptr, false});
    if (result != nullptr || PyErr_Occurred() != nullptr) return result;
  }
  return call_of_python(self, "_call", args, named);
}

// run(inputs), run(None, inputs), and both with out=.
PyObject* run(PyObject* self, PyObject* args, PyObject* named) {
  State* const state = state_of(self);
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* const out = named == nullptr ? nullptr : PyDict_GetItemString(named, "out");
  const bool takes_out = named == nullptr || (PyDict_Size(named) == 1 && out != nullptr);
  const bool takes_all = count == 1 || (count == 2 && PyTuple_GetItem(args, 0) == Py_None);
  if (state != nullptr && takes_out && takes_all &&
      PyDict_CheckExact(PyTuple_GetItem(args, count - 1)) &&
      (out == nullptr || out == Py_None || PyDict_CheckExact(out))) {
    PyObject* const result = fast_call(
        *state, {PyTuple_GetItem(args, count - 1), out == Py_None ? nullptr : out, count == 2});
    if (result != nullptr || PyErr_Occurred() != nullptr) return result;
  }
  return call_of_python(self, "_run", args, named);
}

// From a tuple of _model.py's Tensor.
std::vector<Tensor> tensors_of(PyObject* tuple) {
  std::vector<Tensor> tensors(static_cast<std::size_t>(PyTuple_Size(tuple)));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PyObject* const fields = PyTuple_GetItem(tuple, static_cast<Py_ssize_t>(i));
    tensors[i].name = shared(PyTuple_GetItem(fields, 0));
    tensors[i].dtype = shared(PyTuple_GetItem(fields, 1));
    PyObject* const sizes = PyTuple_GetItem(fields, 2);
    for (Py_ssize_t j = 0; j < PyTuple_Size(sizes); ++j) {
      tensors[i].row_shape.push_back(PyLong_AsSsize_t(PyTuple_GetItem(sizes, j)));
    }
    const Owned is_free(PyObject_GetAttrString(fields, "is_free"));
    if (is_free == nullptr) return tensors;
    tensors[i].is_free = is_free.get() == Py_True;
  }
  return tensors;
}

// _bind(run, free, sizes, model, dimensions, inputs, outputs, ndarray, empty, error): addresses of
// tfaot_run(), tfaot_free(), tfaot_sizes() and the model, the largest size of each free
// dimension, the signature, and what of numpy and _library.py is used.
PyObject* bind(PyObject* self, PyObject* args) {
  unsigned long long run_address = 0;
  unsigned long long free_address = 0;
  unsigned long long sizes_address = 0;
  unsigned long long model = 0;
  PyObject *dimensions = nullptr, *inputs = nullptr, *outputs = nullptr, *ndarray = nullptr,
           *empty = nullptr, *error = nullptr;
  if (PyArg_ParseTuple(args, "KKKKOOOOOO", &run_address, &free_address, &sizes_address, &model,
                       &dimensions, &inputs, &outputs, &ndarray, &empty, &error) == 0) {
    return nullptr;
  }
  auto state = std::make_unique<State>();
  static_assert(sizeof state->run == sizeof run_address, "an address is a 64-bit number");
  std::memcpy(&state->run, &run_address, sizeof state->run);
  std::memcpy(&state->free, &free_address, sizeof state->free);
  std::memcpy(&state->sizes_of, &sizes_address, sizeof state->sizes_of);
  std::memcpy(&state->model, &model, sizeof state->model);
  state->dimensions = static_cast<std::size_t>(PyTuple_Size(dimensions));
  for (std::size_t i = 0; i < std::min(state->dimensions, kMostSizes); ++i) {
    PyObject* const largest = PyTuple_GetItem(dimensions, static_cast<Py_ssize_t>(i));
    state->sizes[i] = PyLong_AsSsize_t(largest);
  }
  state->ndarray = shared(ndarray);
  state->empty = shared(empty);
  state->error = shared(error);
  state->dtype_word.reset(PyUnicode_InternFromString("dtype"));
  const Owned place(PyObject_GetAttrString(ndarray, "__weakrefoffset__"));
  if (place == nullptr) return nullptr;
  state->weak_references = PyLong_AsSsize_t(place.get());
  state->inputs = tensors_of(inputs);
  state->outputs = tensors_of(outputs);
  if (PyErr_Occurred() != nullptr) return nullptr;
  auto* const caller = reinterpret_cast<Caller*>(self);
  delete caller->state;
  caller->state = state.release();
  Py_RETURN_NONE;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete state_of(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

PyMethodDef methods[] = {
    {"_bind", bind, METH_VARARGS, nullptr},
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)),
     METH_VARARGS | METH_KEYWORDS, "Predicts with arrays by name: see tfaot.Model."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot type_slots[] = {
    {Py_tp_call, slot(call)},
    {Py_tp_dealloc, slot(destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec type_spec = {"tfaot._fast.Caller", sizeof(Caller), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, type_slots};

int add_type(PyObject* module) {
  Owned type(PyType_FromSpec(&type_spec));
  if (type == nullptr || PyModule_AddObject(module, "Caller", type.get()) != 0) return -1;
  static_cast<void>(type.release());  // the module's now
  return 0;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, slot(add_type)}, {0, nullptr}};

PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_fast", nullptr, 0, nullptr, module_slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__fast() { return PyModuleDef_Init(&module_definition); }
