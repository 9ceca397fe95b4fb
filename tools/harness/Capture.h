//===- Capture.h - Launches as a graph --------------------------*- C++ -*-===//
#ifndef SWAGE_TOOLS_HARNESS_CAPTURE_H
#define SWAGE_TOOLS_HARNESS_CAPTURE_H

#include "swage/Runtime/Device.h"

#include <functional>

namespace swage {

/// What `launch` puts on the stream, as a graph to replay.
Expected<GraphExec> capture(Stream &stream, const std::function<Status()> &launch);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_CAPTURE_H
