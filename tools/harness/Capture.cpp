//===- Capture.cpp - Launches as a graph ----------------------------------===//
#include "Capture.h"

using namespace swage;

Expected<GraphExec> swage::capture(Stream &stream, const std::function<Status()> &launch) {
  if (Status begun = stream.beginCapture(); !begun)
    return begun.takeError();
  // The capture ends whether the launch succeeds or not.
  Status launched = launch();
  auto graph = stream.endCapture();
  if (!launched)
    return launched.takeError();
  if (!graph)
    return graph.takeError();
  return graph->instantiate();
}
