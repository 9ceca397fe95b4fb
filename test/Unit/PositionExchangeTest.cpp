//===- PositionExchangeTest.cpp - How the thread rows of a block meet -----===//
#include "HostCompiler.h"
#include "SimtTestSupport.h"

using namespace swage;

/// The banks of a warp's loads, as mergePositions (position_exchange.cuh) has them: neighbouring
/// lanes read what neighbouring thread rows have of a position.
static const char kEntries[] = R"(
#include "swage/position_exchange.cuh"
template <int Groups, int Positions> constexpr bool areApart() {
  constexpr int kParts = Groups / 4, kBeside = 32 / kParts;
  for (int first = 0; first < Positions; first += kBeside)
    for (int row = 0; row < Groups; row += kParts) {
      bool taken[32] = {};
      for (int lane = 0; lane < 32 && first + lane / kParts < Positions; ++lane) {
        const int entry = swage::detail::entryOf<Positions, kBeside>(row + lane % kParts,
                                                                     first + lane / kParts);
        if (entry < 0 || entry >= Groups * Positions || taken[entry % 32])
          return false;
        taken[entry % 32] = true;
      }
    }
  return true;
}
template <int Groups> constexpr bool areAllApart() {
  return areApart<Groups, 1>() && areApart<Groups, 4>() && areApart<Groups, 8>() &&
         areApart<Groups, 16>() && areApart<Groups, 32>() && areApart<Groups, 256>();
}
static_assert(areAllApart<8>() && areAllApart<16>() && areAllApart<32>() && areAllApart<64>() &&
              areAllApart<128>());
extern "C" __global__ void entries(int *out) { *out = 1; }
)";

TEST(PositionExchangeTest, EntriesThatAWarpReadsAreInBanksOfTheirOwn) {
  auto compiler = simt::HostCompiler::get(false);
  if (!compiler)
    GTEST_SKIP() << compiler.error().message;
  CompileRequest request = kernelRequest("entries", kEntries);
  const std::filesystem::path root = SWAGE_TEMPLATES;
  for (const auto &entry : std::filesystem::directory_iterator(root / "swage"))
    if (entry.path().extension() == ".cuh") {
      auto text = readFile(entry.path().string());
      ASSERT_TRUE(text);
      request.headers.push_back({entry.path().lexically_relative(root).string(), std::move(*text)});
    }
  auto binary = (*compiler)->compile(request);
  EXPECT_TRUE(binary) << binary.error().str();
}
