//===- Trace.h - Events for people ----------------------------------------===//
//
// What becomes of the events of a context: a file for Chrome's trace viewer and Perfetto, lines on
// stderr, ranges for NVIDIA's profilers.  A host that wants its own gives ContextOptions::events;
// the sinks here are functions that it may call from there.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_TRACE_H
#define SWAGE_RUNTIME_TRACE_H

#include "swage/Runtime/Context.h"

namespace swage {

/// Receives one line for a person, without a newline.
using PrintLine = std::function<void(const std::string &)>;

/// Writes events to a file in the trace-event format of Chrome.  Each event is in the file when the
/// sink returns, so that what a process did before it was killed can be looked at; the file is
/// complete when the last copy of the sink is gone, or at exit.  Sinks of one file share it.  "%p"
/// in the path is the process's id.  What cannot be written is lost after one warning.
SWAGE_API EventSink traceFileSink(const std::string &path, PrintLine warn = {});

/// Prints a line for each compile that takes more than a second, and one when nine kernels in a row
/// were compiled and none was found.  `cacheDirectory`: where they are kept; may be empty.  By
/// default lines go to stderr, after "swage: ".
SWAGE_API EventSink noticeSink(std::string cacheDirectory, PrintLine print = {});

/// What a context made with these options reports to, `events` apart: notices where `events` is
/// empty and SWAGE_NOTICES is not off, and SWAGE_TRACE's file.  Empty where it is neither.  A host
/// that has no `events` owns no terminal either, so what is wrong with the environment is said on
/// stderr here, once in a process.
SWAGE_API EventSink environmentSink(const ContextOptions &options);

/// A stage of a context as it happens: a range for profilers (NVTX, domain "swage") from the
/// constructor to the destructor, which reports the event.  Of one thread.
class SWAGE_API TraceSpan {
public:
  TraceSpan(const Context &context, TraceEvent::Kind kind, std::string name,
            std::string detail = {}, std::string reason = {});
  ~TraceSpan();
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

  /// Kind, detail and reason may become known on the way.
  TraceEvent event;
  /// Nothing is reported: the stage failed, or there was nothing to do.
  void cancel() { cancelled = true; }

private:
  const Context context;
  bool cancelled = false;
};

/// Whether this build has NVTX: without its headers there are no ranges.
SWAGE_API bool hasNvtx();

} // namespace swage

#endif // SWAGE_RUNTIME_TRACE_H
