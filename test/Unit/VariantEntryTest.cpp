//===- VariantEntryTest.cpp - What passes decided, kept in the cache ------===//
//
// Every field changes the key; what is read is what was written, or nothing.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/VariantEntry.h"
#include "CacheTestSupport.h"
#include "FakeProgram.h"
#include "swage/Support/BuildId.h"
#include "swage/Support/Text.h"

#include <functional>
#include <random>
#include <set>

using namespace swage;
using namespace swage::test;

static VariantKeyFields sampleFields() {
  VariantKeyFields fields;
  fields.passes = "0123abcd";
  fields.kind = "variant";
  fields.graph = "func.func @main() { return }";
  fields.filename = "model.mlir";
  fields.entry = "main";
  fields.arch = "sm_90a";
  fields.alignment = {16, 4};
  fields.extents = {{8, 1024}, {1, 0}};
  return fields;
}

TEST(VariantKey, EveryFieldChangesIt) {
  const std::function<void(VariantKeyFields &)> edits[] = {
      [](auto &fields) { fields.passes = "0123abce"; },
      [](auto &fields) { fields.kind = "needs"; },
      [](auto &fields) { fields.graph += ' '; },
      [](auto &fields) { fields.filename = "model2.mlir"; },
      [](auto &fields) { fields.entry = "main2"; },
      [](auto &fields) { fields.arch = "sm_90"; },
      [](auto &fields) { fields.arch = "sim:sm_90a"; },
      [](auto &fields) { fields.indexBits = 64; },
      [](auto &fields) { fields.fuse = false; },
      [](auto &fields) { fields.overlap = Overlap::On; },
      [](auto &fields) { fields.overlap = Overlap::Off; },
      [](auto &fields) { fields.schedules = "row_1=#swage.row_schedule<>;"; },
      [](auto &fields) {
        fields.alignment = {4, 16};
      },
      [](auto &fields) { fields.alignment = {16}; },
      [](auto &fields) { fields.alignment.clear(); },
      [](auto &fields) { fields.extents[0].multipleOf = 4; },
      [](auto &fields) { fields.extents[0].atMost = 0; },
      [](auto &fields) { std::swap(fields.extents[0], fields.extents[1]); },
      [](auto &fields) { fields.extents.clear(); },
  };
  CacheKey base = variantKey(sampleFields());
  std::set<Hash128> hashes = {base.hash};
  std::set<std::string> texts = {base.text};
  for (const auto &edit : edits) {
    VariantKeyFields fields = sampleFields();
    edit(fields);
    hashes.insert(variantKey(fields).hash);
    texts.insert(variantKey(fields).text);
  }
  EXPECT_EQ(hashes.size(), std::size(edits) + 1);
  EXPECT_EQ(texts.size(), std::size(edits) + 1);
  EXPECT_EQ(variantKey(sampleFields()).text, base.text);
}

TEST(VariantKey, IsNoKeyOfAKernel) {
  EXPECT_EQ(resultKind(variantKey(sampleFields()).text), "variant");
  CacheKeyFields kernel;
  kernel.source = "kind 7\nvariant\n";
  EXPECT_EQ(resultKind(CacheKey::make(kernel).text), "");
}

namespace {
class LoweredTest : public CacheTest {
protected:
  static LoweredVariant sample() {
    Guards guards;
    guards.alignment = {16, 4, 16};
    guards.extents = {{1, 0}, {8, 1024}, {4, 0}};
    LoweredVariant lowered;
    lowered.variant = FakeSource::variant(guards);
    lowered.variant->kernels[0].binary = nullptr;
    lowered.variant->kernels[0].source = "// the source of a kernel\n";
    lowered.variant->symbolic[0].inputs[0].tile = SymbolicTile{{1, 0}, {32, 8}, 128};
    lowered.variant->remarks = {"a remark"};
    lowered.isEmpty = {0};
    return lowered;
  }
  static Expected<LoweredVariant> parse(std::string_view bytes) { return parseLowered(bytes); }
};
} // namespace

TEST_F(LoweredTest, WhatIsReadIsWhatWasWritten) {
  LoweredVariant from = sample();
  std::string bytes = serializeLowered(from);
  auto read = parse(bytes);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(serializeLowered(*read), bytes);
  EXPECT_EQ(read->isEmpty, from.isEmpty);
  const Variant &to = *read->variant;
  EXPECT_EQ(to.entryName, "main");
  EXPECT_EQ(to.guards, from.variant->guards);
  EXPECT_EQ(to.kernels[0].source, from.variant->kernels[0].source);
  EXPECT_EQ(to.remarks, from.variant->remarks);
  const std::vector<SymbolicView> &views = to.symbolic[0].inputs;
  ASSERT_TRUE(views[0].tile);
  EXPECT_EQ(views[0].tile->dims, (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(views[0].tile->box, (std::vector<uint32_t>{32, 8}));
  EXPECT_EQ(views[0].tile->swizzle, 128u);
  EXPECT_FALSE(views[1].tile);
  auto expected = from.variant->layOut({{10, 64}, {64}}), actual = to.layOut({{10, 64}, {64}});
  ASSERT_TRUE(expected && *expected && actual && *actual);
  EXPECT_EQ((**actual).launches[0].sizes, (**expected).launches[0].sizes);
}

TEST_F(LoweredTest, NothingElseIsRead) {
  const std::string whole = serializeLowered(sample());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse(whole.substr(0, size))) << size;
  EXPECT_FALSE(parse(whole + '\0'));
  LoweredVariant many = sample();
  many.isEmpty = {0, 1};
  EXPECT_FALSE(parse(serializeLowered(many)));
  LoweredVariant other = sample();
  other.variant->inputs.pop_back();
  EXPECT_FALSE(parse(serializeLowered(other)));
  LoweredVariant wide = sample();
  wide.variant->symbolic[0].inputs[0].tile->dims[0] = 2;
  EXPECT_FALSE(parse(serializeLowered(wide))) << "of a kernel of rank 2";
  // Whatever else its bytes are, it is read without harm.
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
      bytes[random() % bytes.size()] = char(random());
    if (auto read = parse(bytes))
      (void)read->variant->layOut({{10, 64}, {64}});
    else
      EXPECT_EQ(read.error().stage, Stage::Cache);
  }
}

TEST_F(LoweredTest, Needs) {
  std::vector<ExtentNeeds> needs = {{true, false, true, {8, 0}}, {false, true, false, {1, 960}}, {}};
  std::string bytes = serializeNeeds(needs);
  auto read = parseNeeds(bytes);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(serializeNeeds(*read), bytes);
  EXPECT_TRUE((*read)[1].limit && !(*read)[1].multiple && !(*read)[1].count);
  EXPECT_TRUE((*read)[0].count && !(*read)[0].limit);
  EXPECT_EQ((*read)[0].promised.multipleOf, 8);
  EXPECT_EQ((*read)[1].promised.atMost, 960);
  EXPECT_FALSE(parseNeeds(bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(parseNeeds(bytes + '\0'));
  needs[0].promised.multipleOf = 0;
  EXPECT_FALSE(parseNeeds(serializeNeeds(needs)));
}

TEST_F(LoweredTest, TheCacheKeepsIt) {
  CacheKey key = variantKey(sampleFields());
  const std::string bytes = serializeLowered(sample());
  auto cache = open();
  std::string found;
  auto take = [&](std::string_view kept) -> Status {
    found = kept;
    return {};
  };
  EXPECT_FALSE(cache->findVariant(key, take));
  cache->keepVariant(key, "main", "sm_90a", bytes);
  EXPECT_TRUE(open()->findVariant(key, take));
  EXPECT_EQ(found, bytes);
  struct stat info = {};
  ASSERT_EQ(stat(entryPath(key).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  // What is not taken is an entry that cannot be used.
  auto other = open();
  EXPECT_FALSE(other->findVariant(key, [](std::string_view) -> Status {
    return makeError(Stage::Cache, "as the test asked");
  }));
  EXPECT_EQ(other->stats().rejected, 1u);
  EXPECT_EQ(other->stats().variantHits, 0u);
  // Nor does a file that another user may write count.
  ASSERT_EQ(chmod(entryPath(key).c_str(), 0622), 0);
  EXPECT_FALSE(open()->findVariant(key, take));
  options.cacheMode = CacheMode::ReadOnly;
  VariantKeyFields fields = sampleFields();
  fields.entry = "another";
  open()->keepVariant(variantKey(fields), "another", "sm_90a", bytes);
  EXPECT_EQ(fileCount(), 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(LoweredTest, StaysWithinTheLimit) {
  options.cacheLimit = 20000;
  auto cache = open();
  for (int i = 0; i < 10; ++i) {
    VariantKeyFields fields = sampleFields();
    fields.entry += std::to_string(i);
    cache->keepVariant(variantKey(fields), "main", "sm_90a", std::string(5000, 'x'));
  }
  EXPECT_GT(cache->stats().evicted, 0u);
  EXPECT_LE(fileCount(), 4u);
}

//===----------------------------------------------------------------------===//
// Builds
//===----------------------------------------------------------------------===//

TEST(BuildId, TellsImagesApart) {
  static const int ours = 0;
  std::string id = buildIdAt(&ours), ofLibrary = buildIdAt(reinterpret_cast<void *>(&std::fopen));
  EXPECT_EQ(id, buildIdOfFile("/proc/self/exe"));
  EXPECT_FALSE(ofLibrary.empty());
  EXPECT_NE(id, ofLibrary);
  int local = 0;
  EXPECT_EQ(buildIdAt(&local), "");
}

TEST(BuildId, ReadsNothingFromWhatIsNoLibrary) {
  std::string path = testing::TempDir() + "swage-build-id";
  auto whole = readFile(FAKE_CUDA, size_t(1) << 30);
  ASSERT_TRUE(whole);
  std::string id = buildIdOfFile(FAKE_CUDA);
  EXPECT_FALSE(id.empty());
  auto with = [&](const std::string &bytes) {
    EXPECT_TRUE(writeFile(path, bytes));
    return buildIdOfFile(path);
  };
  EXPECT_EQ(with(*whole), id);
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("no library"), "");
  std::string foreign = *whole;
  foreign[18] ^= 1; // the architecture
  EXPECT_EQ(with(foreign), "");
  for (size_t size = 0; size < 2000; size += 7) {
    std::string cut = with(whole->substr(0, size));
    EXPECT_TRUE(cut.empty() || cut == id) << size;
  }
  EXPECT_EQ(buildIdOfFile("/nonexistent"), "");
  EXPECT_EQ(buildIdOfFile("/"), "");
  std::filesystem::remove(path);
}
