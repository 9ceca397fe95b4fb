//===- TraceEvent.h - What a context does, as it does it -----------------------===//
#ifndef SWAGE_RUNTIME_TRACEEVENT_H
#define SWAGE_RUNTIME_TRACEEVENT_H

#include "swage/Support/Api.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace swage {

/// One thing that took place.  Sinks are called on the thread that did it, several at once; they
/// must not call back into the program.
struct TraceEvent {
  enum class Kind {
    Parse,      ///< text to a verified graph
    Lower,      ///< passes and emission of a variant
    Compile,    ///< one kernel, source to machine code
    CacheHit,   ///< one kernel that was found; `detail` says in memory or on disk
    Load,       ///< machine code of one kernel onto a device
    Variant,    ///< a variant was made; `reason` says why none of the others served
    Plan,       ///< a plan for shapes that had none
    Evict,      ///< a plan that was not used for longest made room
    Progress,   ///< a stage that takes long, or a step of a warm-up
    VariantHit, ///< what passes would make of a graph was found on disk: instead of Lower
  };
  Kind kind = Kind::Compile;
  std::string name;   ///< of the kernel, else of the program
  std::string detail; ///< for people: architecture, shapes, source of a hit
  std::string reason; ///< why it was needed: the first guard that did not hold, in words
  std::chrono::steady_clock::time_point begin, end; ///< equal where it takes no time
  uint64_t thread = 0;

  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(end - begin).count();
  }
};

SWAGE_API const char *eventName(TraceEvent::Kind kind);

using EventSink = std::function<void(const TraceEvent &)>;

} // namespace swage

#endif // SWAGE_RUNTIME_TRACEEVENT_H
