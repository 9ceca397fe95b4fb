//===- RunReport.cpp - What a run says of kernels and results -------------===//
#include "RunReport.h"

#include "Table.h"
#include "Tuner.h"
#include "swage/Support/Text.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <fmt/format.h>
#include <numeric>

using namespace swage;

/// What is unusual about how a kernel is launched.
static std::string launchText(const KernelInfo &kernel) {
  std::string text;
  if (kernel.clusterSize > 1)
    text += fmt::format(", clusters of {} blocks", kernel.clusterSize);
  if (kernel.dynamicSharedBytes > 0)
    text += fmt::format(", {} bytes of dynamic shared memory", kernel.dynamicSharedBytes);
  return text + (kernel.overlap ? ", may overlap the one before" : "");
}

void RunReport::printKernels(const Layout &layout, const std::vector<KernelInfo> &kernels) const {
  Table table({"kernel", "template", "regs", "local", "MB", "us", "TB/s", "of copy", "worst error",
               "schedule"});
  for (size_t i = 0; i < layout.launches.size(); ++i) {
    const LaunchInfo &launch = layout.launches[i];
    const KernelInfo &kernel = kernels[launch.kernel];
    std::string worst = "-";
    int64_t ulps = -1;
    for (const LaunchTensor &output : launch.outputs)
      if (output.kind == BufferKind::Output && results[output.index].ulps > ulps) {
        ulps = results[output.index].ulps;
        worst = fmt::format("{} of result {}", results[output.index].worst, output.index);
      }
    bool timed = i < seconds.size() && seconds[i] > 0;
    const KernelResources resources = kernel.binary ? kernel.binary->resources : KernelResources();
    table.add({kernel.name, kernel.family, isSimulated ? "-" : std::to_string(resources.registers),
               isSimulated ? "-" : std::to_string(resources.stackFrame),
               fmt::format("{:.2f}", double(launch.bytesMoved) / 1e6),
               timed ? fmt::format("{:.2f}", seconds[i] * 1e6) : "-",
               timed ? fmt::format("{:.2f}", double(launch.bytesMoved) / seconds[i] / 1e12) : "-",
               timed ? fmt::format("{:.2f}", shares[i]) : "-", worst,
               compactSchedule(kernel.schedule)});
  }
  table.print();
  for (const KernelInfo &kernel : kernels)
    std::printf("  %s: %s%s%s\n", kernel.name.c_str(), join(kernel.ops, ", ").c_str(),
                launchText(kernel).c_str(),
                kernel.overriddenBy.empty() ? "" : (", from " + kernel.overriddenBy).c_str());
  if (layout.workspaceBytes != 0)
    std::printf("workspace: %llu bytes, of which %llu are in use at once\n",
                static_cast<unsigned long long>(layout.workspaceBytes),
                static_cast<unsigned long long>(layout.workspaceLowerBound));
  if (double all = std::accumulate(seconds.begin(), seconds.end(), 0.0); all > 0)
    std::printf("all kernels: %.2f us\n", all * 1e6);
}

void RunReport::printResults(const Layout &layout) const {
  Table table({"result", "type", "verdict", "worst error", "bit-equal"});
  for (size_t i = 0; i < layout.results.size(); ++i)
    table.add({std::to_string(i), layout.results[i].str(), results[i].verdict, results[i].worst,
               results[i].bitEqual});
  table.print();
}

std::string RunReport::json(const std::string &model, const Layout &layout,
                            const std::vector<KernelInfo> &kernels) const {
  llvm::json::Array records;
  for (size_t i = 0; i < layout.launches.size(); ++i) {
    const LaunchInfo &launch = layout.launches[i];
    const KernelInfo &kernel = kernels[launch.kernel];
    llvm::json::Object record{{"family", model},
                              {"case", kernel.name},
                              {"peer", "swage"},
                              {"template", kernel.family},
                              {"schedule", kernel.schedule},
                              {"bytes", int64_t(launch.bytesMoved)}};
    if (kernel.binary && !isSimulated)
      record["registers"] = kernel.binary->resources.registers;
    if (i < seconds.size() && seconds[i] > 0) {
      record["us"] = seconds[i] * 1e6;
      record["GBs"] = double(launch.bytesMoved) / seconds[i] / 1e9;
      record["share"] = shares[i];
    }
    records.push_back(std::move(record));
  }
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(records))).str();
}
