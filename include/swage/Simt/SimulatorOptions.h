//===- SimulatorOptions.h - How a simulated kernel runs -------------------===//
#ifndef SWAGE_SIMT_SIMULATOROPTIONS_H
#define SWAGE_SIMT_SIMULATOROPTIONS_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace swage::simt {

/// In which order threads and blocks run wherever the program leaves it open.
enum class Order { Forward, Reverse, Random };

/// When asynchronous copies and matrix instructions take effect: when they are issued, as late as
/// the waits of the program allow, or at a random time between.  Unless eager, the destination
/// holds NaNs until then.
enum class Asynchrony { Eager, Late, Random };

struct SWAGE_API SimulatorOptions {
  Order order = Order::Forward;
  Asynchrony async = Asynchrony::Eager;
  bool check = false;  ///< races, bounds, initialisation, overflow: several times slower
  bool strict = false; ///< with check: also what works on today's hardware but is not promised
  uint64_t seed = 1;   ///< of the random choices
  /// Host threads; 0: one for each core, but a single one where choices are random, so that a seed
  /// stands for one run.
  unsigned workers = 0;

  /// "order=random,async=late,check,seed=3,workers=1,strict", in any order; the empty text is the
  /// default.
  static Expected<SimulatorOptions> parse(std::string_view text);
  /// The text that parse reads back.
  std::string str() const;
};

} // namespace swage::simt

#endif // SWAGE_SIMT_SIMULATOROPTIONS_H
