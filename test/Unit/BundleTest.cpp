//===- BundleTest.cpp - Compiled programs as files ------------------------===//
//
// A bundle reads as what was written, or not at all: whatever happens to its bytes.
//
//===----------------------------------------------------------------------===//
#include "FakeProgram.h"
#include "swage/Support/Hash.h"
#include "swage/Support/Text.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace swage;
using namespace swage::test;

namespace {
/// Two variants that differ in the width of their offsets, one of them with an intermediate tensor.
Bundle sample() {
  Bundle bundle;
  bundle.entryName = "main";
  bundle.inputs = FakeSource::inputTypes();
  bundle.results = FakeSource::resultTypes();
  bundle.needs = {{false, false, false, {}}, {true, true, false, {}}, {true, false, false, {}}};
  for (int bits : {32, 64}) {
    Guards guards;
    guards.indexBits = bits;
    guards.alignment = {16, 4, 16};
    guards.extents = {{1, 0}, {8, 1024}, {4, 0}};
    auto variant = FakeSource::variant(guards);
    KernelInfo &kernel = variant->kernels[0];
    kernel.family = "pointwise";
    kernel.ops = {"arith.addf at 2:8"};
    kernel.clusterSize = bits == 64 ? 4 : 1;
    kernel.dynamicSharedBytes = bits == 64 ? 50000 : 0;
    kernel.scratchBytes = bits == 64 ? 16 << 20 : 0;
    kernel.overlap = bits == 64;
    kernel.source = "// the source of a kernel\n";
    auto binary = std::make_shared<KernelBinary>(*kernel.binary);
    binary->resources = {32, 1, 2, 3, 4, 5};
    kernel.binary = binary;
    variant->remarks = {"a remark"};
    variant->storedLocations = {"2:8"};
    variant->symbolic[0].facts = {{1, 0}, {8, 1024}};
    if (bits == 64) {
      SymbolicLaunch again = variant->launches[0];
      variant->launches[0].outputs = {{BufferKind::Workspace, 0}};
      again.inputs[0] = {BufferKind::Workspace, 0};
      variant->launches.push_back(again);
      variant->workspaceValues = 1;
    }
    bundle.variants.push_back(variant);
  }
  return bundle;
}

/// The checksum that belongs to what comes before it.
std::string sealed(std::string bytes) {
  std::string_view covered(bytes.data(), bytes.size() - sizeof(Hash128));
  Hash128 checksum = hashBytes(covered);
  std::memcpy(&bytes[covered.size()], &checksum.high, sizeof checksum.high);
  std::memcpy(&bytes[covered.size() + sizeof checksum.high], &checksum.low, sizeof checksum.low);
  return bytes;
}

std::string problem(std::string_view bytes) {
  auto bundle = Bundle::parse(bytes);
  if (bundle)
    return "";
  EXPECT_EQ(bundle.error().stage, Stage::Load);
  return bundle.error().message;
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}
} // namespace

TEST(BundleTest, WhatIsReadIsWhatWasWritten) {
  Bundle bundle = sample();
  std::string bytes = bundle.serialize();
  auto read = Bundle::parse(bytes);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->serialize(), bytes);
  EXPECT_EQ(read->entryName, "main");
  EXPECT_EQ(read->inputs[0].str(), "?x?xf32");
  EXPECT_TRUE(read->needs[1].limit);
  EXPECT_FALSE(read->needs[2].limit);
  ASSERT_EQ(read->variants.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Variant &from = *bundle.variants[i], &to = *read->variants[i];
    EXPECT_EQ(to.guards, from.guards);
    EXPECT_EQ(to.entryName, "main");
    EXPECT_EQ(to.kernels[0].source, from.kernels[0].source);
    EXPECT_EQ(to.kernels[0].ops, from.kernels[0].ops);
    EXPECT_EQ(to.kernels[0].clusterSize, from.kernels[0].clusterSize);
    EXPECT_EQ(to.kernels[0].dynamicSharedBytes, from.kernels[0].dynamicSharedBytes);
    EXPECT_EQ(to.kernels[0].scratchBytes, from.kernels[0].scratchBytes);
    EXPECT_EQ(to.kernels[0].overlap, from.kernels[0].overlap);
    EXPECT_EQ(to.kernels[0].binary->image, from.kernels[0].binary->image);
    EXPECT_EQ(to.kernels[0].binary->resources.barriers, 5);
    EXPECT_EQ(to.storedLocations, from.storedLocations);
    auto expected = from.layOut({{10, 64}, {64}}), actual = to.layOut({{10, 64}, {64}});
    ASSERT_TRUE(expected && *expected && actual && *actual);
    EXPECT_EQ((**actual).workspaceBytes, (**expected).workspaceBytes);
    EXPECT_EQ((**actual).workspaceBytes, i == 1 ? 10u * 64 * 4 + (16u << 20) : 0u);
    ASSERT_EQ((**actual).launches.size(), i + 1);
    EXPECT_EQ((**actual).launches[0].sizes, (**expected).launches[0].sizes);
    EXPECT_EQ((**actual).launches[0].blocks, (**expected).launches[0].blocks);
  }
}

TEST(BundleTest, EqualKernelsAreStoredOnce) {
  Bundle bundle = sample();
  auto binary = std::make_shared<KernelBinary>(*bundle.variants[0]->kernels[0].binary);
  binary->image = std::string(100000, 'x');
  bundle.variants.clear();
  for (int i = 0; i < 4; ++i) {
    auto variant = FakeSource::variant(sample().variants[0]->guards);
    variant->kernels[0].binary = std::make_shared<KernelBinary>(*binary);
    bundle.variants.push_back(variant);
  }
  std::string bytes = bundle.serialize();
  EXPECT_LT(bytes.size(), 110000u);
  auto read = Bundle::parse(bytes);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->variants[0]->kernels[0].binary, read->variants[3]->kernels[0].binary);
}

TEST(BundleTest, EveryTruncationIsAnError) {
  std::string bytes = sample().serialize();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(problem(std::string_view(bytes).substr(0, size)), "") << size;
  EXPECT_NE(problem(bytes + "x"), "");
}

TEST(BundleTest, EveryChangedByteIsAnError) {
  const std::string bytes = sample().serialize();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = char(changed[i] ^ (1 << bit));
      EXPECT_NE(problem(changed), "") << "byte " << i;
    }
}

// The checksum is no protection against what was made to pass it.
TEST(BundleTest, WhateverPassesTheChecksumIsReadSafely) {
  const std::string bytes = sample().serialize();
  std::mt19937 random(1);
  int accepted = 0;
  auto survive = [&](const std::string &changed) {
    auto bundle = Bundle::parse(sealed(changed));
    if (!bundle)
      return;
    ++accepted;
    EXPECT_EQ(Bundle::parse(bundle->serialize()).operator bool(), true);
    std::vector<Dims> dims;
    for (const TensorType &type : bundle->inputs) {
      dims.push_back(type.shape);
      for (int64_t &extent : dims.back())
        extent = extent == TensorType::kDynamic ? 8 : extent;
    }
    for (const auto &variant : bundle->variants) {
      (void)variant->layOut(dims);
      (void)variant->guards.str(bundle->inputs);
    }
  };
  for (size_t i = 24; i + sizeof(Hash128) < bytes.size(); ++i)
    for (unsigned char value : {0, 1, 2, 3, 8, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = char(value);
      survive(changed);
    }
  for (int round = 0; round < 20000; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 4; ++i)
      changed[24 + random() % (bytes.size() - 40)] = char(random());
    survive(changed);
  }
  EXPECT_GT(accepted, 0) << "a changed text is still a text";
}

TEST(BundleTest, WhatDoesNotFitTogetherIsNamed) {
  auto change = [](auto edit) {
    Bundle bundle = sample();
    edit(bundle, const_cast<Variant &>(*bundle.variants[0]));
    return problem(bundle.serialize());
  };
  EXPECT_EQ(change([](Bundle &, Variant &) {}), "");
  expectPart(change([](Bundle &b, Variant &) { b.needs.pop_back(); }), "another program");
  expectPart(change([](Bundle &b, Variant &) { b.inputs[0].elementBytes = 2; }), "element type");
  expectPart(change([](Bundle &, Variant &v) { v.guards.alignment[0] = 3; }), "power of two");
  expectPart(change([](Bundle &, Variant &v) { v.guards.extents[0].multipleOf = 0; }),
             "holds for none");
  expectPart(change([](Bundle &, Variant &v) { v.guards.arch = "sm_80"; }), "another kernel");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic.clear(); }), "described twice");
  expectPart(change([](Bundle &, Variant &v) { v.kernels[0].threads = 0; }), "no such launch");
  expectPart(change([](Bundle &, Variant &v) { v.kernels[0].clusterSize = 0; }), "clusters");
  expectPart(change([](Bundle &, Variant &v) { v.kernels[0].clusterSize = 32; }), "clusters");
  expectPart(change([](Bundle &, Variant &v) { v.kernels[0].scratchBytes = 3u << 30; }), "memory");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic[0].isReduced.pop_back(); }), "two ranks");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic[0].inputs[0].strides.pop_back(); }),
             "does not fit its kernel");
  expectPart(change([](Bundle &, Variant &v) { v.launches[0].kernel = 1; }), "no kernel");
  expectPart(change([](Bundle &, Variant &v) { v.launches[0].sizes[0].argument = 2; }),
             "of no input");
  expectPart(change([](Bundle &, Variant &v) {
               v.launches[0].inputs[0] = {BufferKind::Workspace, 0};
             }),
             "reads what is not written");
  expectPart(change([](Bundle &, Variant &v) {
               v.launches[0].outputs[0] = {BufferKind::Input, 0};
             }),
             "writes what it must not");
  expectPart(change([](Bundle &, Variant &v) { v.launches.clear(); }), "result is not written");
  expectPart(change([](Bundle &, Variant &v) { v.workspaceValues = 1; }), "intermediate tensors");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic[0].inputs[0].tensor = 2; }),
             "more inputs");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic[0].facts[0].multipleOf = 0; }),
             "relies on holds for no size");
  // Callers have memory for as many extents as the result has, and for its elements.
  expectPart(change([](Bundle &, Variant &v) {
               auto &shape = v.symbolic[0].outputs[0].shape;
               shape.push_back(shape[0]);
             }),
             "another type than the result");
  expectPart(change([](Bundle &, Variant &v) { v.symbolic[0].outputs[0].elementBytes = 8; }),
             "another type than the result");
}

TEST(BundleTest, ALongTextIsNotCopiedForEachReference) {
  Bundle bundle = sample();
  auto &variant = const_cast<Variant &>(*bundle.variants[0]);
  auto repeat = [&](size_t kernels) {
    variant.kernels.assign(kernels, variant.kernels[0]);
    variant.symbolic.assign(kernels, variant.symbolic[0]);
    return problem(bundle.serialize());
  };
  variant.kernels[0].source.assign(1 << 20, ' ');
  EXPECT_EQ(repeat(8), "");
  expectPart(repeat(300), "do not end where it ends");
}

TEST(BundleTest, OtherFilesAndVersionsAreNamed) {
  std::string bytes = sample().serialize();
  expectPart(problem("short"), "has 5 bytes, too few for a header");
  std::string other = bytes;
  other[0] = 'X';
  expectPart(problem(sealed(other)), "does not start like one");
  other = bytes;
  other[8] = 99;
  expectPart(problem(sealed(other)), "has format version 99; needed: 7");
}

TEST(BundleTest, AFileIsWrittenWholeAndErrorsNameIt) {
  std::string path = testing::TempDir() + "swage-bundle-test-" + std::to_string(getpid());
  Bundle bundle = sample();
  Status written = bundle.write(path);
  ASSERT_TRUE(written) << written.error().str();
  auto read = Bundle::read(path);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->serialize(), bundle.serialize());
  ASSERT_TRUE(writeFile(path, "no bundle, but long enough to have a header"));
  auto damaged = Bundle::read(path);
  ASSERT_FALSE(damaged);
  expectPart(damaged.error().message, path);
  unlink(path.c_str());
  auto missing = Bundle::read(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().stage, Stage::Load);
  expectPart(missing.error().message, path);
  EXPECT_FALSE(bundle.write("/proc/swage-bundle-test"));
}

// A bundle of this version, as it was written once.  A change of the format needs another number in
// Bundle.cpp and another file, from sample().write(...).
TEST(BundleTest, BundlesOfThisVersionStayReadable) {
  auto bytes = readFile(SWAGE_TEST_INPUTS "/sample-7.bundle");
  ASSERT_TRUE(bytes) << bytes.error().str();
  auto bundle = Bundle::parse(*bytes);
  ASSERT_TRUE(bundle) << bundle.error().str();
  EXPECT_EQ(bundle->serialize(), *bytes);
  EXPECT_EQ(sample().serialize(), *bytes);
}
