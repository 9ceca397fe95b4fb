//===- NvtxTool.cpp - A profiler that writes down ranges ------------------===//
//
// NVTX loads it in place of Nsight Systems where NVTX_INJECTION64_PATH names it. Ranges go to the
// standard output, "[domain message" where they begin and "]" where they end.
//
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t createDomain(const char *name) {
  std::printf("domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(1);
}

static int beginRange(nvtxDomainHandle_t, const nvtxEventAttributes_t *attributes) {
  std::printf("[%s\n", attributes->message.ascii);
  return 0;
}

static int endRange(nvtxDomainHandle_t) {
  std::printf("]\n");
  return 0;
}

template <class Function> static void set(NvtxFunctionTable table, int index, Function function) {
  *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
}

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  auto *callbacks =
      static_cast<const NvtxExportTableCallbacks *>(getExportTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size <= NVTX_CBID_CORE2_DomainRangePop)
    return 0;
  set(table, NVTX_CBID_CORE2_DomainCreateA, createDomain);
  set(table, NVTX_CBID_CORE2_DomainRangePushEx, beginRange);
  set(table, NVTX_CBID_CORE2_DomainRangePop, endRange);
  return 1;
}
