//===- TunedSchedules.h - What an autotuner found -------------------------===//
//
// A text file, by default "tuned-schedules" in the kernel cache's directory.  After a first line
// that names the format, each line is one kernel on one kind of GPU, its fields separated by tabs:
//
//   checksum  architecture  GPU  kernel  schedule  microseconds  those of the selected schedule
//
// A kernel's name is a hash of what it computes, of its shapes, types and alignments.  The checksum
// is that of the line's other fields; a line that is damaged, or of another format, is as if it was
// not there.  The file is replaced at once or not at all.  Whatever it says, a schedule is used
// only where the kernel's verifier accepts it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_RUNTIME_TUNEDSCHEDULES_H
#define SWAGE_RUNTIME_TUNEDSCHEDULES_H

#include "swage/Support/Api.h"
#include "swage/Support/Error.h"
#include "swage/Support/Options.h"

#include <string>
#include <string_view>
#include <vector>

namespace swage {

struct TunedSchedule {
  std::string arch;   ///< "sm_90a"
  std::string device; ///< "NVIDIA H200"
  std::string kernel, schedule;
  double microseconds = 0;
  double selectedMicroseconds = 0; ///< of the schedule that is selected without tuning
};

class SWAGE_API TunedSchedules {
public:
  static TunedSchedules parse(std::string_view text);
  std::string format() const;

  /// Those of SWAGE_TUNED, or of the cache's directory; none where there is no such file, where it
  /// cannot be used, and where SWAGE_TUNED is off.
  static TunedSchedules load(const Options &options);
  /// Adds them to what the file holds by now.  Of two processes that store at the same moment one
  /// may be lost, never the file.
  static Status store(const Options &options, const std::vector<TunedSchedule> &found);

  /// Whether a file that is named can be written: for those who would search for minutes first.  It
  /// holds afterwards what it held.
  static Status checkPlace(const Options &options);

  /// In place of one for the same kernel, architecture and GPU.  One without a schedule only takes
  /// that away.
  void add(TunedSchedule found);
  const std::vector<TunedSchedule> &all() const { return entries; }

  /// "kernel=schedule;..." for an architecture: of several GPUs the one that is named, else that
  /// which was added last.
  std::string forDevice(std::string_view arch, std::string_view device) const;

private:
  std::vector<TunedSchedule> entries; ///< the latest last
};

} // namespace swage

#endif // SWAGE_RUNTIME_TUNEDSCHEDULES_H
