// SPDX-License-Identifier: Apache-2.0
// The functions that _library.py calls: plain C, so that Python needs nothing but ctypes. Texts are
// UTF-8. Nothing throws. Safe from many threads, also tfaot_run() of one model: each call has
// memory of its own.
#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/free_tensors.h"
#include "tfaot/records/json_text.h"
#include "tfaot/workflow/inspect.h"
#include "tfaot/workflow/load_package.h"

namespace {

using namespace tfaot::toolkit;

nlohmann::ordered_json tensors_to_json(const std::vector<TensorSpec>& tensors,
                                       const std::vector<FreeDimension>& dimensions) {
  return mapped(tensors, [&](const TensorSpec& tensor) -> nlohmann::ordered_json {
    nlohmann::ordered_json free_shape = nlohmann::ordered_json::array();
    for (std::size_t d = 0; d < tensor.free_shape.size(); ++d) {
      const SizeFormula& formula = tensor.free_shape[d];
      nlohmann::ordered_json size = tensor.row_shape[d];
      if (!is_constant(formula)) size = formula_text(formula, dimensions);
      free_shape.push_back(std::move(size));
    }
    return {{"name", tensor.name},
            {"dtype", word_of(tensor.dtype)},
            {"row_shape", tensor.row_shape},
            {"free_shape", std::move(free_shape)}};
  });
}

nlohmann::ordered_json dimensions_to_json(const std::vector<FreeDimension>& dimensions) {
  return mapped(dimensions, [](const FreeDimension& one) -> nlohmann::ordered_json {
    return {{"name", one.name}, {"smallest", one.smallest}, {"largest", one.largest}};
  });
}

// As the runtime's ModelRecord; older packages have no version and no hash.
nlohmann::ordered_json record_of(const Predictor& predictor) {
  const Manifest& manifest = predictor.model().manifest();
  const ModelRecord record = manifest.record.value_or(ModelRecord{manifest.name, 0, ""});
  return {{"model_name", record.model_name},
          {"version", record.version},
          {"hash", record.hash},
          {"cpu_level", predictor.cpu_level()},
          {"instructions", instructions_beyond_levels(manifest).value_or("")}};
}

std::string description_of(const Predictor& predictor) {
  const Manifest& manifest = predictor.model().manifest();
  const std::vector<FreeDimension> dimensions = sized_dimensions(manifest.dimensions);
  return json_to_text({{"name", manifest.name},
                       {"version", manifest.version},
                       {"cpu_level", predictor.cpu_level()},
                       {"batch_sizes", manifest.batch_sizes},
                       {"rows", word_of(manifest.rows)},
                       {"record", record_of(predictor)},
                       {"dimensions", dimensions_to_json(dimensions)},
                       {"inputs", tensors_to_json(manifest.signature.inputs, dimensions)},
                       {"outputs", tensors_to_json(manifest.signature.outputs, dimensions)}});
}

// For tfaot_free().
char* text_copy(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// What `work` returns, or its exception as an Error.
template <class Work>
auto without_exceptions(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return fail(Error(error.what()));
  }
}

Result<Predictor> open_predictor(const nlohmann::ordered_json& request) {
  RealFileSystem files;
  SilentDiagnostics silence;
  Environment environment;
  environment.working_directory = request.at("working_directory").get<std::string>();
  environment.architecture = request.at("machine").get<std::string>();
  environment.variables = request.at("variables").get<std::map<std::string, std::string>>();
  Context context{files, silence, environment};
  LoadRequest load;
  load.package = context.absolute(request.at("package").get<std::string>());
  load.command = "tfaot.Model";
  TFAOT_ASSIGN(const FoundPackage found, find_package(context, load));
  TFAOT_ASSIGN(auto model, load_package(context, found));
  PredictorOptions options;
  options.cpu_level = request.at("cpu_level").get<std::string>();
  options.batch_rules = request.at("batch_rules").get<std::vector<std::string>>();
  return Predictor::create(std::move(model), options);
}

// A Ctrl-C while the linker ran was recorded, and is Python's again.
void hand_on_interrupt() {
  const int signal = interrupting_signal();
  if (signal == 0) return;
  forget_interrupts();
  ::raise(signal);
}

}  // namespace

// A loaded model.
struct tfaot_model {
  explicit tfaot_model(Predictor opened)
      : first(std::move(opened)),
        description(description_of(first)),
        signature(first.model().manifest().signature),
        dimensions(sized_dimensions(first.model().manifest().dimensions)) {}

  // Memory of a call.
  struct Worker {
    Predictor predictor;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };

  // One that nobody uses; a call gives it back. As many exist as calls ran at the same time.
  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<Worker> worker = std::move(idle.back());
        idle.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>(Worker{first.sibling(), {}, {}});
  }
  void give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(worker));
  }

  const Predictor first;  // runs nothing: others are its siblings
  const std::string description;
  const Signature& signature;
  const std::vector<FreeDimension> dimensions;  // with sizes of their own
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> idle;
};

#define TFAOT_C_FUNCTION extern "C" [[gnu::visibility("default")]]

// Raised with every change of these functions; _library.py takes only its own.
TFAOT_C_FUNCTION int tfaot_interface() { return 2; }

// Loads a package. `request` is JSON: package, working_directory, machine, cpu_level, batch_rules
// and variables, as LoadRequest, PredictorOptions and Environment have them. Null: `error` has the
// text, which tfaot_free() frees.
TFAOT_C_FUNCTION tfaot_model* tfaot_open(const char* request, char** error) {
  auto opened = without_exceptions([&]() -> Result<std::unique_ptr<tfaot_model>> {
    TFAOT_ASSIGN(Predictor predictor, open_predictor(json_from_text(request)));
    return std::make_unique<tfaot_model>(std::move(predictor));
  });
  hand_on_interrupt();
  if (opened) return opened->release();
  *error = text_copy(opened.error().text());
  return nullptr;
}

// JSON that lives as long as the model: name, version, cpu_level, batch_sizes, rows, record,
// dimensions, inputs and outputs, each of these with name, dtype, row_shape and free_shape: [] if
// no dimension is free, else a number or a text for each.
TFAOT_C_FUNCTION const char* tfaot_describe(const tfaot_model* model) {
  return model->description.c_str();
}

// The sizes of the free dimensions that inputs with these shapes have. `row_shapes`: the dimensions
// of a row of each input, as many as the signature says, one input after another. `at_sizes` gets
// those of all inputs, then outputs, at the sizes. Null, or the text of the error, which
// tfaot_free() frees.
TFAOT_C_FUNCTION char* tfaot_sizes(const tfaot_model* model, const std::int64_t* row_shapes,
                                   std::int64_t* sizes, std::int64_t* at_sizes) {
  const auto found = without_exceptions([&]() -> Status {
    const auto shapes = mapped(model->signature.inputs, [&](const TensorSpec& input) {
      const std::int64_t* const first =
          std::exchange(row_shapes, row_shapes + input.row_shape.size());
      return std::vector<std::int64_t>(first, row_shapes);
    });
    TFAOT_ASSIGN(const std::vector<std::int64_t> given,
                 sizes_of_shapes(model->signature.inputs, shapes, model->dimensions));
    std::ranges::copy(given, sizes);
    for (const auto* tensors : {&model->signature.inputs, &model->signature.outputs}) {
      for (const TensorSpec& tensor : *tensors) {
        for (std::size_t d = 0; d < tensor.row_shape.size(); ++d) {
          const bool is_free = !tensor.free_shape.empty();
          *at_sizes++ = is_free ? size_at(tensor.free_shape[d], given) : tensor.row_shape[d];
        }
      }
    }
    return {};
  });
  return found ? nullptr : text_copy(found.error().text());
}

// inputs[i] and outputs[i] point to `rows` rows each, row-major, in the order of the signature.
// `sizes`: of each free dimension; null: the largest. Null, or the text of the error, which
// tfaot_free() frees.
TFAOT_C_FUNCTION char* tfaot_run(tfaot_model* model, std::uint64_t rows, const std::int64_t* sizes,
                                 const void* const* inputs, void* const* outputs) {
  const auto ran = without_exceptions([&]() -> Status {
    std::unique_ptr<tfaot_model::Worker> worker = model->take();
    worker->inputs.assign(inputs, inputs + model->signature.inputs.size());
    worker->outputs.assign(outputs, outputs + model->signature.outputs.size());
    Status done = worker->predictor.run(rows, worker->inputs, worker->outputs, sizes);
    model->give_back(std::move(worker));
    return done;
  });
  return ran ? nullptr : text_copy(ran.error().text());
}

// All rows of a tensor.
struct tfaot_ragged {
  void* data;
  std::uint64_t elements;
};

// Rows of different sizes, one after another without padding. `offsets`, of each free dimension:
// rows + 1 numbers, the first 0. Null, or the text of the error, which tfaot_free() frees.
TFAOT_C_FUNCTION char* tfaot_run_ragged(tfaot_model* model, std::uint64_t rows,
                                        const std::uint64_t* const* offsets,
                                        const tfaot_ragged* inputs, const tfaot_ragged* outputs) {
  const auto ran = without_exceptions([&]() -> Status {
    std::vector<::tfaot::Span<const std::size_t>> starts;
    for (std::size_t d = 0; d < model->dimensions.size(); ++d) {
      starts.emplace_back(offsets[d], rows + 1);
    }
    std::vector<::tfaot::BatchRunner::RaggedInput> from;
    for (std::size_t i = 0; i < model->signature.inputs.size(); ++i) {
      from.push_back({inputs[i].data, inputs[i].elements});
    }
    std::vector<::tfaot::BatchRunner::RaggedOutput> to;
    for (std::size_t i = 0; i < model->signature.outputs.size(); ++i) {
      to.push_back({outputs[i].data, outputs[i].elements});
    }
    std::unique_ptr<tfaot_model::Worker> worker = model->take();
    Status done = worker->predictor.run_ragged(rows, starts, from, to);
    model->give_back(std::move(worker));
    return done;
  });
  return ran ? nullptr : text_copy(ran.error().text());
}

// REQUIRES: no call runs the model.
TFAOT_C_FUNCTION void tfaot_close(tfaot_model* model) { delete model; }

TFAOT_C_FUNCTION void tfaot_free(char* text) { std::free(text); }
