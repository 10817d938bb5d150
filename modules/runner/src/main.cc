// SPDX-License-Identifier: Apache-2.0
// The program around every engine; see runner.h. Inputs and expected outputs are mapped, so that
// only the rows that are used count as memory of the process.
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "runner.h"

namespace tfaot::runner {
namespace {

using Clock = std::chrono::steady_clock;

// A file, mapped for the life of the process.
struct MappedFile {
  const void* data = nullptr;
  std::size_t bytes = 0;
};

MappedFile map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) throw std::runtime_error("cannot read " + path);
  MappedFile mapped;
  mapped.bytes = static_cast<std::size_t>(status.st_size);
  if (mapped.bytes > 0) {
    void* const memory = mmap(nullptr, mapped.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
    mapped.data = memory;
  }
  close(file);
  return mapped;
}

void write_file(const std::string& path, const void* data, std::size_t bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const char* next = static_cast<const char*>(data);
  ssize_t written = file < 0 ? -1 : 0;
  for (; bytes > 0 && written >= 0; bytes -= static_cast<std::size_t>(written), next += written) {
    written = write(file, next, bytes);
  }
  if (written < 0 || close(file) != 0) throw std::runtime_error("cannot write " + path);
}

// Nanoseconds of the processor that all threads of this process have used.
std::int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct Difference {
  double worst = 0;
  double largest = 0;
};

template <class Element>
void compare(const void* found, const void* expected, std::size_t elements, Difference& result) {
  for (std::size_t i = 0; i < elements; ++i) {
    const auto a = static_cast<double>(static_cast<const Element*>(found)[i]);
    const auto b = static_cast<double>(static_cast<const Element*>(expected)[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) {
      if (std::isfinite(b)) result.largest = std::max(result.largest, std::abs(b));
      continue;
    }
    const double difference = std::abs(a - b);
    if (std::isnan(difference)) result.worst = std::numeric_limits<double>::infinity();
    result.worst = std::max(result.worst, difference);
    if (std::isfinite(b)) result.largest = std::max(result.largest, std::abs(b));
  }
}

void compare(const Tensor& tensor, std::size_t rows, const void* found, const void* expected,
             Difference& result) {
  const std::size_t elements = rows * tensor.row_elements();
  detail::visit_dtype(tensor.type, [&](auto type) {
    using Element = typename decltype(type)::Type;
    using Stored = std::conditional_t<std::is_same_v<Element, bool>, unsigned char, Element>;
    compare<Stored>(found, expected, elements, result);
  });
}

// Of count_allocations.cc, if it is preloaded.
using AllocationCounts = void (*)(std::uint64_t* count, std::uint64_t* bytes);

class Session {
 public:
  explicit Session(Settings settings) : settings_(std::move(settings)) {
    for (const std::string& path : settings_.all("input_file")) inputs_.push_back(map_file(path));
    for (const std::string& path : settings_.all("expected_file")) {
      expected_.push_back(map_file(path));
    }
    take_constants();
    if (inputs_.size() != settings_.inputs.size()) {
      throw std::runtime_error("each input needs an input_file");
    }
    if (!expected_.empty() && expected_.size() != settings_.outputs.size()) {
      throw std::runtime_error("each output needs an expected_file, or none");
    }
    const std::string turns = settings_.get("turns");
    turns_ = turns.empty() ? 0 : std::stoul(turns);
    engine_ = make_engine(settings_);
    allocation_counts_ =
        reinterpret_cast<AllocationCounts>(dlsym(RTLD_DEFAULT, "tfaot_allocation_counts"));
  }

  void take_constants() {
    const std::vector<std::string> files = settings_.all("constant_file");
    if (files.size() != settings_.constants.size()) {
      throw std::runtime_error("each constant needs a constant_file");
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const MappedFile value = map_file(files[i]);
      if (value.bytes != settings_.constants[i].tensor.row_bytes()) {
        throw std::runtime_error(files[i] + " has another size");
      }
      settings_.constants[i].data = value.data;
    }
  }

  std::string prepare(std::size_t rows) {
    rows_ = rows;
    next_ = 0;
    taken_.clear();
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      check_rows(turns_ > 0 ? turns_ : rows, settings_.inputs[i], inputs_[i]);
      inputs.push_back(inputs_[i].data);
      if (turns_ == 0) continue;
      taken_.emplace_back(rows * settings_.inputs[i].row_bytes());
      inputs.back() = taken_.back().data();
    }
    if (turns_ > 0 && rows > turns_) throw std::runtime_error("more rows than 'turns'");
    take_rows();
    engine_->prepare(rows, inputs);
    engine_->run();
    Difference difference;
    const std::vector<const void*> outputs = engine_->outputs();
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      check_rows(rows, settings_.outputs[i], expected_[i]);
      compare(settings_.outputs[i], rows, outputs[i], expected_[i].data, difference);
    }
    std::ostringstream answer;
    answer << "ok " << difference.worst << " " << difference.largest;
    return answer.str();
  }

  std::string write(const std::string& prefix) {
    const std::vector<const void*> outputs = engine_->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      write_file(prefix + std::to_string(i), outputs[i], rows_ * settings_.outputs[i].row_bytes());
    }
    return "ok";
  }

  std::string version() { return engine_->version(); }

  std::string time(std::size_t calls) {
    for (std::size_t i = 0; i < calls / 8 + 1; ++i) call();
    const std::int64_t used_before = processor_time();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) call();
    const std::chrono::nanoseconds spent = Clock::now() - start;
    const std::int64_t used = processor_time() - used_before;
    return std::to_string(spent.count()) + " " + std::to_string(used);
  }

  std::string allocations(std::size_t calls) {
    if (allocation_counts_ == nullptr) return "unknown";
    engine_->run();
    std::uint64_t before[2];
    std::uint64_t after[2];
    allocation_counts_(&before[0], &before[1]);
    for (std::size_t i = 0; i < calls; ++i) engine_->run();
    allocation_counts_(&after[0], &after[1]);
    return std::to_string(after[0] - before[0]) + " " + std::to_string(after[1] - before[1]);
  }

  std::string operations(std::size_t calls) {
    engine_->run();
    const std::vector<std::int64_t> before = engine_->operations();
    for (std::size_t i = 0; i < calls; ++i) engine_->run();
    const std::vector<std::int64_t> after = engine_->operations();
    std::string answer;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (i > 0) answer += " ";
      answer += std::to_string(after[i] - before[i]);
    }
    return answer;
  }

 private:
  void call() {
    if (turns_ > 0) take_rows();
    engine_->run();
  }

  // Copies the next rows of the files to where the engine reads them.
  void take_rows() {
    if (next_ + rows_ > turns_) next_ = 0;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const auto* const file = static_cast<const unsigned char*>(inputs_[i].data);
      std::memcpy(taken_[i].data(), file + next_ * settings_.inputs[i].row_bytes(),
                  taken_[i].size());
    }
    next_ += rows_;
  }

  static void check_rows(std::size_t rows, const Tensor& tensor, const MappedFile& file) {
    if (rows * tensor.row_bytes() > file.bytes) {
      throw std::runtime_error("the file of '" + tensor.name + "' has too few rows");
    }
  }

  Settings settings_;
  std::vector<MappedFile> inputs_;
  std::vector<MappedFile> expected_;
  std::unique_ptr<Engine> engine_;
  std::size_t rows_ = 0;  // of the last prepare()
  std::size_t turns_ = 0;
  std::size_t next_ = 0;                           // row that the next call takes
  std::vector<std::vector<unsigned char>> taken_;  // by input, if calls take rows in turn
  AllocationCounts allocation_counts_ = nullptr;
};

void stay_on_core(const std::string& core) {
  if (core.empty()) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(std::stoul(core), &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    throw std::runtime_error("cannot run on core " + core);
  }
}

void end_with_parent(const std::string& parent) {
  if (parent.empty()) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) throw std::runtime_error("the parent is gone");
}

std::string answer(Session& session, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::size_t number = 0;
  words >> verb >> number;  // some verbs have none
  if (verb == "write") return session.write(line.substr(verb.size() + 1));
  if (verb == "version") return session.version();
  if (verb == "prepare") return session.prepare(number);
  if (verb == "time") return session.time(number);
  if (verb == "allocations") return session.allocations(number);
  if (verb == "operations") return session.operations(number);
  throw std::runtime_error("unknown request: " + line);
}

// Returns whether a program around it needs the process to end properly, to write its file.
bool serve(int argc, char** argv) {
  const auto start = Clock::now();
  Settings settings = settings_of(argc, argv);
  end_with_parent(settings.get("parent"));
  stay_on_core(settings.get("core"));
  const bool is_watched = !settings.get("watched").empty();
  const std::string first = settings.get("first");
  Session session(std::move(settings));
  if (first != "0") session.prepare(first.empty() ? 1 : std::stoul(first));
  const std::chrono::nanoseconds spent = Clock::now() - start;
  std::cout << "ready " << spent.count() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(session, line) << std::endl;
  }
  return is_watched;
}

}  // namespace
}  // namespace tfaot::runner

int main(int argc, char** argv) {
  try {
    const bool is_watched = tfaot::runner::serve(argc, argv);
    std::cout.flush();
    if (is_watched) return 0;
    _exit(0);  // the engines' own shutdown is not measured, and some are slow at it
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
