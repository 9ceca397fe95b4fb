//===- swage-doctor.cpp - Whether this machine can run Swage --------------===//
//
// Looks at everything that Swage needs and finds at run time, compiles and runs a kernel with it,
// and says what to do about what is missing.  Whatever state the machine is in, it ends with a
// report: what may crash or hang runs in a process of its own.
//
//===----------------------------------------------------------------------===//
#include "Checks.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

using namespace swage;
using namespace swage::doctor;
using std::chrono::seconds;

static constexpr const char *kHelp =
    R"(usage: swage-doctor [--json]

Says whether this machine can run Swage and what to do about what is missing: CUDA driver, devices,
NVRTC, the simulator's compiler, a kernel compiled and run with each, kernel cache, SWAGE_ variables,
limits, disassembler.  Each line begins with ok, warning (Swage works without it) or problem.

  --json     the same as one JSON object
  --version  prints the version

Exit code 0: a kernel was compiled and run, on a GPU or the simulator, and there is no problem;
1: there is one; 2: not run.
)";

namespace {
class Doctor {
public:
  explicit Doctor(bool json) : json(json) {}
  /// Returns the exit code.
  int run();

private:
  void add(Finding finding);
  void check(const char *what, seconds limit, const char *advice,
             const std::function<void(Report &)> &checks);
  bool runs(std::string_view where) const;

  bool json;
  std::vector<Finding> findings;
};
} // namespace

void Doctor::add(Finding finding) {
  if (!json) {
    std::fputs(finding.str().c_str(), stdout);
    std::fflush(stdout);
  }
  findings.push_back(std::move(finding));
}

void Doctor::check(const char *what, seconds limit, const char *advice,
                   const std::function<void(Report &)> &checks) {
  runIsolated(what, limit, advice, checks, [&](Finding finding) { add(std::move(finding)); });
}

/// Whether a kernel ran there.
bool Doctor::runs(std::string_view where) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding &finding) {
    return finding.values.count(kRuns) && finding.what.find(where) != std::string::npos;
  });
}

int Doctor::run() {
  check("Swage", seconds(20), "", checkVersions);
  check("environment", seconds(20), "", checkEnvironment);
  check("CUDA driver", seconds(120),
        "the driver is broken or made for another machine: reinstall it, or name another libcuda "
        "with SWAGE_CUDA_DRIVER",
        checkDriver);
  std::vector<std::string> archs;
  for (const Finding &finding : findings)
    if (auto arch = finding.values.find(kSupported);
        arch != finding.values.end() &&
        std::find(archs.begin(), archs.end(), arch->second) == archs.end())
      archs.push_back(arch->second);
  check("NVRTC", seconds(120),
        "the library is broken or made for another machine: reinstall it, or name another with "
        "SWAGE_NVRTC",
        [&](Report &report) { checkNvrtc(report, archs); });
  if (!archs.empty())
    check("kernel on a device", seconds(120),
          "nvidia-smi and the system's log (dmesg: Xid) tell whether the GPU is well",
          checkDevices);
  check("simulator", seconds(180),
        "name another g++ or clang++ with SWAGE_HOST_COMPILER, and look at the limits below",
        checkSimulator);
  check("kernel cache", seconds(60),
        "the file system of the cache may not answer: name another directory with SWAGE_CACHE_DIR",
        checkCache);
  check("limits", seconds(20), "", checkLimits);
  check("disassembler", seconds(60), "name another with SWAGE_NVDISASM", checkDiagnosis);

  bool onGpu = runs("device"), onSimulator = runs("simulator");
  add(onGpu ? Finding(Level::Ok, "verdict", "kernels run on a GPU here")
      : onSimulator
          ? Finding(Level::Ok, "verdict", "kernels run on the simulator here, not on a GPU")
          : Finding(Level::Problem, "verdict", "no kernel can be run here",
                    "either a GPU, its driver and NVRTC, or g++ or clang++ is needed"));
  auto problems = std::count_if(findings.begin(), findings.end(), [](const Finding &finding) {
    return finding.level == Level::Problem;
  });
  if (json) {
    std::string lines;
    for (const Finding &finding : findings)
      lines += fmt::format("{}\n    {}", lines.empty() ? "" : ",", finding.json());
    fmt::print("{{\n  \"swage\": {},\n  \"gpu\": {},\n  \"simulator\": {},\n  \"problems\": {},\n  "
               "\"findings\": [{}\n  ]\n}}\n",
               jsonString(SWAGE_VERSION), onGpu, onSimulator, problems, lines);
  }
  return problems == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (word == "--version") {
      std::puts("swage-doctor " SWAGE_VERSION);
      return 0;
    }
    if (word != "--json") {
      fmt::print(stderr, "swage-doctor: unknown option '{}'; see swage-doctor --help\n",
                 printable(word));
      return 2;
    }
    json = true;
  }
  int code = Doctor(json).run();
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fputs("swage-doctor: cannot write to the standard output\n", stderr);
    return 2;
  }
  return code;
}
