//===- SupportTest.cpp - Errors, options, hashes, text, presets -----------===//
//
// The small things that every layer relies on.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/DeviceProperties.h"
#include "swage/Support/Hash.h"
#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

using namespace swage;

TEST(Error, ShowsEveryFieldThatIsSet) {
  Error error = makeError(Stage::Compile, "cannot compile 'k.cu'", "k.cu(1): error: x\n\n");
  error.sourcePath = "/tmp/k.cu";
  error.reproduce = "swage-run k.cu";
  EXPECT_EQ(error.str(), "compile error: cannot compile 'k.cu'\nk.cu(1): error: x\n"
                         "source: /tmp/k.cu\nreproduce: swage-run k.cu");
  EXPECT_EQ(makeError(Stage::Launch, "x is null").str(), "launch error: x is null");
}

TEST(Expected, HoldsAValueOrAnError) {
  auto half = [](int n) -> Expected<int> {
    if (n % 2)
      return makeError(Stage::Input, "odd");
    return n / 2;
  };
  ASSERT_TRUE(half(4));
  EXPECT_EQ(*half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).takeError().message, "odd");
  Expected<std::unique_ptr<int>> owner = std::make_unique<int>(3);
  std::unique_ptr<int> taken = std::move(*owner);
  EXPECT_EQ(*taken, 3);
}

TEST(Options, DirectoryOrder) {
  const char *all[] = {"HOME=/home/u", "XDG_CACHE_HOME=/x", "SWAGE_CACHE_DIR=/c", nullptr};
  EXPECT_EQ(Options::parse(all).cacheDir, "/c");
  EXPECT_EQ(Options::parse(all).cacheBase, "");
  const char *xdg[] = {"HOME=/home/u", "XDG_CACHE_HOME=/x", nullptr};
  EXPECT_EQ(Options::parse(xdg).cacheDir, "/x/swage");
  const char *home[] = {"HOME=/home/u", "XDG_CACHE_HOME=relative", "SWAGE_CACHE_DIR=", nullptr};
  EXPECT_EQ(Options::parse(home).cacheDir, "/home/u/.cache/swage");
  EXPECT_EQ(Options::parse(home).cacheBase, "/home/u");
  const char *none[] = {"HOME=", nullptr};
  EXPECT_EQ(Options::parse(none).cacheDir, "");
  EXPECT_EQ(Options::parse(nullptr).cacheDir, "");
}

TEST(Options, WhatIsWrongIsSaid) {
  const char *environment[] = {"SWAGE_CAHCE=off", "SWAGE_CACHE=maybe\n", "SWAGE_ZZZZZZZZZZZ=1",
                               "SWAGGER=1", nullptr};
  Options options = Options::parse(environment);
  ASSERT_EQ(options.warnings.size(), 3u);
  EXPECT_EQ(options.warnings[0],
            "unknown environment variable SWAGE_CAHCE; did you mean SWAGE_CACHE?");
  EXPECT_EQ(options.warnings[1],
            "SWAGE_CACHE='maybe\\x0a' cannot be used: expected read-write|read-only|require|off");
  EXPECT_EQ(options.warnings[2], "unknown environment variable SWAGE_ZZZZZZZZZZZ");
  EXPECT_EQ(options.cacheMode, CacheMode::ReadWrite);
}

TEST(Options, EveryVariableIsStored) {
  const char *environment[] = {"SWAGE_CACHE=read-only", "SWAGE_CUDA_DRIVER=/d.so", "SWAGE_NVRTC=/n",
                               "SWAGE_DUMP=/dump", nullptr};
  Options options = Options::parse(environment);
  EXPECT_TRUE(options.warnings.empty());
  EXPECT_EQ(options.cacheMode, CacheMode::ReadOnly);
  EXPECT_EQ(options.cudaDriver, "/d.so");
  EXPECT_EQ(options.nvrtc, "/n");
  EXPECT_EQ(options.dump.directory, "/dump");
  for (const OptionInfo &info : environmentOptions())
    EXPECT_FALSE(info.help.empty()) << info.name;
}

TEST(Options, DumpsNameTheirParts) {
  auto dump = [](std::string_view text) {
    auto request = parseDump(text);
    EXPECT_TRUE(request) << text;
    return request ? *request : DumpRequest();
  };
  EXPECT_EQ(dump("/out").directory, "/out");
  EXPECT_EQ(dump("/out").parts, DumpAll);
  EXPECT_EQ(dump("/out:ptx,sass").directory, "/out");
  EXPECT_EQ(dump("/out:ptx,sass").parts, DumpPtx | DumpSass);
  EXPECT_EQ(dump("/out:ir,all").parts, DumpAll);
  EXPECT_EQ(dump("/a:b/").directory, "/a:b/");
  EXPECT_EQ(dump("/a:b/c").directory, "/a:b/c");
  EXPECT_EQ(dump("/a:b/:cuda").directory, "/a:b/");
  EXPECT_EQ(dump("/a:b/:cuda").parts, DumpCuda);
  EXPECT_FALSE(DumpRequest().wants(DumpIR));
  for (const char *bad : {"", ":ptx", "/out:", "/out:ptx,", "/out:PTX", "/out:ir cuda"})
    EXPECT_FALSE(parseDump(bad)) << bad;
  const char *environment[] = {"SWAGE_DUMP=/out:ptx,cubim", nullptr};
  Options options = Options::parse(environment);
  ASSERT_EQ(options.warnings.size(), 1u);
  EXPECT_EQ(options.warnings[0].find("SWAGE_DUMP='/out:ptx,cubim' cannot be used: 'cubim' is no "
                                     "part of a dump; did you mean 'cubin'?"),
            0u)
      << options.warnings[0];
  EXPECT_FALSE(options.dump.wants(DumpPtx));
}

TEST(Options, OverridesTraceAndNotices) {
  const char *environment[] = {"SWAGE_OVERRIDE=row_1=/a.cu,permute_*=/b=c.cu",
                               "SWAGE_TRACE=/trace-%p.json",
                               "SWAGE_NOTICES=off",
                               "SWAGE_NVDISASM=my-nvdisasm",
                               "SWAGE_OVERLAP=on",
                               nullptr};
  Options options = Options::parse(environment);
  EXPECT_TRUE(options.warnings.empty());
  EXPECT_EQ(options.overlap, Overlap::On);
  ASSERT_EQ(options.overrides.size(), 2u);
  EXPECT_EQ(options.overrides[0].kernel, "row_1");
  EXPECT_EQ(options.overrides[0].file, "/a.cu");
  EXPECT_EQ(options.overrides[1].kernel, "permute_*");
  EXPECT_EQ(options.overrides[1].file, "/b=c.cu");
  EXPECT_EQ(options.traceFile, "/trace-%p.json");
  EXPECT_FALSE(options.notices);
  EXPECT_EQ(options.disassembler, "my-nvdisasm");
  for (const char *bad : {"SWAGE_OVERRIDE=file.cu", "SWAGE_OVERRIDE==file.cu",
                          "SWAGE_OVERRIDE=row_1=", "SWAGE_OVERRIDE=row_1=a.cu,", "SWAGE_NOTICES=no",
                          "SWAGE_OVERLAP=1"}) {
    const char *one[] = {bad, nullptr};
    EXPECT_EQ(Options::parse(one).warnings.size(), 1u) << bad;
  }
}

TEST(Options, TunedSchedules) {
  auto parse = [](const char *text) {
    const char *environment[] = {text, nullptr};
    return Options::parse(environment);
  };
  EXPECT_TRUE(Options().tuned);
  EXPECT_TRUE(parse("SWAGE_TUNED=on").tuned);
  EXPECT_FALSE(parse("SWAGE_TUNED=off").tuned);
  EXPECT_TRUE(parse("SWAGE_TUNED=/a/b").tuned);
  EXPECT_EQ(parse("SWAGE_TUNED=/a/b").tunedFile, "/a/b");
  EXPECT_EQ(parse("SWAGE_TUNED=yes").warnings.size(), 1u);
}

TEST(Options, CacheLimit) {
  auto limit = [](const char *text) {
    const char *environment[] = {text, nullptr};
    Options options = Options::parse(environment);
    EXPECT_EQ(options.warnings.empty(), options.cacheLimit != Options().cacheLimit) << text;
    return options.cacheLimit;
  };
  EXPECT_EQ(Options().cacheLimit, uint64_t(2) << 30);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=1500"), 1500u);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=64K"), 65536u);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=500M"), uint64_t(500) << 20);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=1.5GiB"), uint64_t(3) << 29);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=3TB"), uint64_t(3) << 40);
  EXPECT_EQ(limit("SWAGE_CACHE_LIMIT=none"), 0u);
  for (const char *bad : {"0", "-1", "G", "2X", "2GX", "1.5", "1.2.3G", " 2G", "9999999999T", "nan",
                          "1e9", "0x10", "0.0001K"})
    EXPECT_EQ(limit(("SWAGE_CACHE_LIMIT=" + std::string(bad)).c_str()), uint64_t(2) << 30);
  const char *environment[] = {"SWAGE_CACHE_LIMIT=2 gigabytes", nullptr};
  ASSERT_EQ(Options::parse(environment).warnings.size(), 1u);
  EXPECT_EQ(
      Options::parse(environment).warnings[0],
      "SWAGE_CACHE_LIMIT='2 gigabytes' cannot be used: expected a size such as 500M or 2G, or "
      "none");
  const char *require[] = {"SWAGE_CACHE=require", nullptr};
  EXPECT_EQ(Options::parse(require).cacheMode, CacheMode::Require);
}

TEST(Hash, IsStable) {
  // A change here makes every cache entry and every kernel name another one.
  EXPECT_EQ(hashBytes("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hashBytes("a"), hashBytes("b"));
  EXPECT_EQ((Hash128{1, 0xabc}).hex(), "00000000000000010000000000000abc");
}

TEST(Text, NearestMatch) {
  EXPECT_EQ(nearestMatch("softmx", {"softmax", "permute"}), "softmax");
  EXPECT_EQ(nearestMatch("attention", {"softmax", "permute"}), "");
}

TEST(Text, PrintableEscapes) { EXPECT_EQ(printable("a\x1b[31m\n\xc3"), "a\\x1b[31m\\x0a\\xc3"); }

TEST(Text, Files) {
  std::string path = testing::TempDir() + "swage-support-test-" + std::to_string(getpid());
  std::string bytes("a\0b", 3);
  ASSERT_TRUE(writeFile(path, bytes));
  auto read = readFile(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, bytes);
  EXPECT_TRUE(readFile(path, 3));
  EXPECT_FALSE(readFile(path, 2));
  std::remove(path.c_str());
  auto endless = readFile("/dev/zero", 100000);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().message, "cannot read '/dev/zero': it has more than 100000 bytes");
  auto missing = readFile("/nonexistent/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "cannot open '/nonexistent/file': No such file or directory");
}

TEST(Text, FilesAreWrittenWholeOrNotAtAll) {
  namespace fs = std::filesystem;
  fs::path folder = testing::TempDir() + "swage-write-test-" + std::to_string(getpid());
  fs::create_directories(folder / "sub");
  std::string path = folder / "file";
  ASSERT_TRUE(writeFile(path, "old"));
  ASSERT_TRUE(writeFile(path, "new", "er"));
  EXPECT_EQ(*readFile(path), "newer");
  EXPECT_TRUE(checkWritable(path));
  // A directory has the name: the rename fails, and nothing stays behind.
  EXPECT_FALSE(writeFile(folder / "sub", "x"));
  EXPECT_FALSE(checkWritable(folder / "sub"));
  EXPECT_FALSE(checkWritable(folder / "none" / "file"));
  EXPECT_TRUE(checkWritable("/dev/null"));
  EXPECT_TRUE(writeFile("/dev/null", "x"));
  Status full = writeFile("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().message, "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  fs::remove_all(folder);
}

TEST(DeviceProperties, Presets) {
  for (const std::string &arch : DeviceProperties::knownArchs()) {
    auto device = DeviceProperties::forArch(arch);
    ASSERT_TRUE(device);
    EXPECT_EQ(device->arch, arch);
    EXPECT_GE(device->sharedBytesPerBlockOptIn, 99 * 1024);
    EXPECT_GT(device->l2Bytes, 0);
  }
  auto hopper = DeviceProperties::forArch("sm_90"); // without the instructions of its own
  ASSERT_TRUE(hopper);
  EXPECT_EQ(hopper->arch, "sm_90");
  EXPECT_EQ(hopper->smCount, 132);
  auto unknown = DeviceProperties::forArch("sm_70");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "unknown architecture 'sm_70'; known: sm_80, sm_86, sm_89, "
                                     "sm_90a, sm_100a, sm_120, and siblings of theirs");
  auto orin = DeviceProperties::forArch("sm_87");
  ASSERT_TRUE(orin);
  EXPECT_EQ(orin->arch, "sm_87");
  EXPECT_EQ(orin->smCount, DeviceProperties::forArch("sm_86")->smCount);
  for (const char *bad : {"sm_110a", "sm_90x", "sm_9", "sm_87aa", "90a", ""})
    EXPECT_FALSE(DeviceProperties::forArch(bad)) << bad;
}
