// SPDX-License-Identifier: Apache-2.0
// Eight streams of oneTBB's flow graph, as event frameworks have them: each stream has a model of
// its own, and takes the next event when it is free. All models share code and weights.
#include <oneapi/tbb/flow_graph.h>

#include <array>
#include <cstdio>
#include <tuple>
#include <vector>

#include "tfaot/runtime/models.h"

namespace {

constexpr int kStreams = 8;
constexpr int kEvents = 10000;

struct Event {
  int number = 0;
  std::array<float, 4> x{};
};

Event make_event(int number) {
  if (number % 2 == 0) return {number, {1.921875F, -1.6875F, -0.859375F, -0.390625F}};
  return {number, {-1.09375F, 0.40625F, 1.578125F, -1.421875F}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: streams AREA\n"), 2;
  const tfaot::Models models(argv[1]);
  std::vector<tfaot::LoadedModel> streams;
  for (int i = 0; i < kStreams; ++i) {
    auto model = models.load("minimal", ">=1");
    if (!model) return std::fprintf(stderr, "%s\n", model.error().text.c_str()), 1;
    streams.push_back(*std::move(model));
  }
  std::vector<std::array<float, 2>> scores(kEvents);

  namespace flow = oneapi::tbb::flow;
  flow::graph graph;
  int next = 0;
  flow::input_node<Event> events(graph, [&](oneapi::tbb::flow_control& control) {
    if (next == kEvents) control.stop();
    return make_event(next++);
  });
  flow::buffer_node<int> free_streams(graph);
  using Work = std::tuple<Event, int>;
  flow::join_node<Work, flow::reserving> start(graph);
  flow::function_node<Work, int> predict(graph, flow::unlimited, [&](const Work& work) {
    const auto& [event, stream] = work;
    auto& y = scores[static_cast<std::size_t>(event.number)];
    const auto ran = streams[static_cast<std::size_t>(stream)].run(1, {{"x", event.x}}, {{"y", y}});
    if (!ran) std::fprintf(stderr, "%s\n", ran.error().text.c_str());
    return stream;
  });
  flow::make_edge(events, flow::input_port<0>(start));
  flow::make_edge(free_streams, flow::input_port<1>(start));
  flow::make_edge(start, predict);
  flow::make_edge(predict, free_streams);
  for (int stream = 0; stream < kStreams; ++stream) free_streams.try_put(stream);
  events.activate();
  graph.wait_for_all();

  int wrong = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) wrong += scores[i] == scores[i % 2] ? 0 : 1;
  std::printf("streams y: %.9g %.9g %.9g %.9g\n", static_cast<double>(scores[0][0]),
              static_cast<double>(scores[0][1]), static_cast<double>(scores[1][0]),
              static_cast<double>(scores[1][1]));
  std::printf("%d events in %d streams, %d of them wrong\n", kEvents, kStreams, wrong);
  return wrong == 0 ? 0 : 1;
}
