//===- Records.cpp - Measurements as JSON ---------------------------------===//

#include "Records.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace swage;

static std::string format(llvm::json::Array array) {
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(array))).str();
}

std::string swage::formatRecords(const std::vector<Record> &records) {
  llvm::json::Array array;
  for (const Record &record : records) {
    llvm::json::Object object{{"family", record.family},
                              {"case", record.caseName},
                              {"peer", "swage"},
                              {"us", record.time.seconds * 1e6},
                              {"GBs", record.bytesPerSecond() / 1e9},
                              {"share", record.time.share()},
                              {"copy_us", record.time.streamSeconds * 1e6},
                              {"bytes", int64_t(record.neededBytes)},
                              {"kernels", int64_t(record.kernels)},
                              {"schedule", record.schedule},
                              {"checked", record.checked}};
    if (record.registers != 0) {
      object["registers"] = record.registers;
      object["spills"] = record.spills;
    }
    if (record.flops != 0)
      object["TFLOPs"] = record.flopsPerSecond() / 1e12;
    if (record.compileMs)
      object["compile_ms"] = *record.compileMs;
    if (record.behindBest) {
      object["behind_best"] = *record.behindBest;
      object["best_schedule"] = record.bestSchedule;
    }
    if (record.length != 0) {
      object["rows"] = record.rows;
      object["cols"] = record.length;
    }
    array.push_back(std::move(object));
  }
  return format(std::move(array));
}

std::string swage::formatCases(const std::vector<BenchCase> &cases) {
  llvm::json::Array array;
  for (const BenchCase &one : cases)
    array.push_back(llvm::json::Object{{"family", one.family},
                                       {"case", one.name},
                                       {"shape", llvm::json::Array(one.shape)},
                                       {"permutation", llvm::json::Array(one.permutation)},
                                       {"type", one.element},
                                       {"offset", one.offset},
                                       {"bytes", int64_t(one.countedBytes)},
                                       {"torch", one.torch}});
  return format(std::move(array));
}
