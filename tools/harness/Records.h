//===- Records.h - Measurements as data and as pictures -------------------===//
#ifndef SWAGE_TOOLS_HARNESS_RECORDS_H
#define SWAGE_TOOLS_HARNESS_RECORDS_H

#include "Benchmark.h"
#include "CaseGraphs.h"

namespace swage {

/// One measurement, as bench/compare.py reads it.
struct Record {
  std::string family, caseName;
  Measurement time;
  uint64_t bytes = 0;       ///< that its rate is given in
  uint64_t neededBytes = 0; ///< that the streams move
  double flops = 0;         ///< floating-point operations; 0: rates are of bytes
  std::string element;
  int64_t rows = 0, length = 0; ///< of a row operation, else 0
  unsigned kernels = 0;
  int registers = 0, spills = 0;   ///< the most of a kernel; bytes that spill, of all
  std::optional<double> compileMs; ///< of a kernel on average, where the compiler was asked
  std::string schedule;            ///< of the kernels
  std::optional<double>
      behindBest; ///< by what fraction its slowest schedule is, where it was tuned
  std::string bestSchedule;
  bool checked = false; ///< its results are those of the reference

  double flopsPerSecond() const { return time.seconds > 0 ? flops / time.seconds : 0; }
  double bytesPerSecond() const { return time.seconds > 0 ? double(bytes) / time.seconds : 0; }
};

/// A JSON array of records with peer "swage".
std::string formatRecords(const std::vector<Record> &records);
/// The cases that torch_peers.py is to time, as it reads them.
std::string formatCases(const std::vector<BenchCase> &cases);

/// The share of a copy's speed over the bytes moved and over the row length, as SVG.
std::string plotShares(const std::vector<Record> &records, const std::string &title);

} // namespace swage

#endif // SWAGE_TOOLS_HARNESS_RECORDS_H
