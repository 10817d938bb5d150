// SPDX-License-Identifier: Apache-2.0
// The program around every engine; see runner.h. Inputs and expected outputs are mapped, so that
// only the rows that are used count as memory of the process.
//   RUNNER KEY=VALUE...   keys: model, library, inputs, expected, input_shape (28,28,3),
//   output_size, names
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include "runner.h"

namespace tfaot::benchmark {
namespace {

// A file of float32, mapped for the life of the process.
struct MappedFloats {
  const float* data = nullptr;
  std::size_t size = 0;
};

MappedFloats map_floats(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) throw std::runtime_error("cannot read " + path);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  return {static_cast<const float*>(memory), bytes / sizeof(float)};
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

std::map<std::string, std::string> settings_of(int argc, char** argv) {
  std::map<std::string, std::string> settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t mark = word.find('=');
    if (mark == std::string::npos) throw std::runtime_error("not KEY=VALUE: " + word);
    settings[word.substr(0, mark)] = word.substr(mark + 1);
  }
  return settings;
}

// Nanoseconds of the processor that all threads of this process have used.
std::int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

class Session {
 public:
  explicit Session(std::map<std::string, std::string> settings)
      : inputs_(map_floats(settings["inputs"])), expected_(map_floats(settings["expected"])) {
    RunnerOptions options;
    options.model = settings["model"];
    options.library = settings["library"];
    options.names = words_of(settings["names"]);
    options.output_size = std::stoul(settings["output_size"]);
    for (const std::string& word : words_of(settings["input_shape"])) {
      options.input_shape.push_back(std::stoul(word));
      row_size_ *= options.input_shape.back();
    }
    output_size_ = options.output_size;
    engine_ = make_engine(options);
  }

  std::string prepare(std::size_t rows) {
    if (rows * row_size_ > inputs_.size || rows * output_size_ > expected_.size) {
      throw std::runtime_error("the input file has too few rows");
    }
    engine_->prepare(rows, inputs_.data);
    engine_->run();
    double worst = 0;
    double largest = 0;
    const float* const outputs = engine_->outputs();
    for (std::size_t i = 0; i < rows * output_size_; ++i) {
      const double difference = std::abs(double{outputs[i]} - double{expected_.data[i]});
      if (std::isnan(difference)) worst = std::numeric_limits<double>::infinity();
      worst = std::max(worst, difference);
      largest = std::max(largest, std::abs(double{expected_.data[i]}));
    }
    std::ostringstream answer;
    answer << "ok " << worst << " " << largest;
    return answer.str();
  }

  std::string time(std::size_t calls) {
    using Clock = std::chrono::steady_clock;
    for (std::size_t i = 0; i < calls / 8 + 1; ++i) engine_->run();
    const std::int64_t used_before = processor_time();
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) engine_->run();
    const std::chrono::nanoseconds spent = Clock::now() - start;
    const std::int64_t used = processor_time() - used_before;
    return std::to_string(spent.count()) + " " + std::to_string(used);
  }

 private:
  MappedFloats inputs_;
  MappedFloats expected_;
  std::size_t row_size_ = 1;
  std::size_t output_size_ = 0;
  std::unique_ptr<Engine> engine_;
};

void serve(int argc, char** argv) {
  Session session(settings_of(argc, argv));
  session.prepare(1);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb;
    std::size_t number = 0;
    words >> verb >> number;
    if (verb != "prepare" && verb != "time") throw std::runtime_error("unknown request: " + line);
    std::cout << (verb == "prepare" ? session.prepare(number) : session.time(number)) << std::endl;
  }
}

}  // namespace
}  // namespace tfaot::benchmark

int main(int argc, char** argv) {
  try {
    tfaot::benchmark::serve(argc, argv);
    std::cout.flush();
    _exit(0);  // the engines' own shutdown is not measured, and some are slow at it
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
