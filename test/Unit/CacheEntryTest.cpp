//===- CacheEntryTest.cpp - Keys and the file form of an entry ------------===//
//
// Every field changes the key; no damage to an entry goes unnoticed.
//
//===----------------------------------------------------------------------===//
#include "CacheEntry.h"
#include "CacheTestSupport.h"

#include <set>

using namespace swage;

namespace {
class CacheEntryTest : public CacheTest {};
} // namespace

TEST_F(CacheEntryTest, EveryFieldChangesTheKey) {
  CacheKeyFields base;
  base.source = "source";
  base.headers = {{"a.cuh", "text"}, {"b.cuh", "more"}};
  base.options = {"-std=c++20", "-lineinfo"};
  base.arch = "sm_90a";
  base.compiler = "NVRTC 13.0.88";
  base.entryNames = {"row"};

  std::vector<CacheKeyFields> variants(10, base);
  variants[0].source = "source ";
  variants[1].headers[0].second = "texT";
  variants[2].headers[0].first = "A.cuh";
  variants[3].headers = {{"b.cuh", "more"}, {"a.cuh", "text"}};
  variants[4].options = {"-lineinfo", "-std=c++20"};
  variants[5].options = {"-std=c++20-lineinfo"};
  variants[6].arch = "sm_90";
  variants[7].compiler = "NVRTC 13.0.89";
  variants[8].entryNames = {"row", ""};
  variants[9].headers = {{"a.cuh", "textname"}, {"b.cuh", "more"}};

  std::set<Hash128> hashes = {CacheKey::make(base).hash};
  std::set<std::string> texts = {CacheKey::make(base).text};
  for (const CacheKeyFields &variant : variants) {
    hashes.insert(CacheKey::make(variant).hash);
    texts.insert(CacheKey::make(variant).text);
  }
  EXPECT_EQ(hashes.size(), variants.size() + 1);
  EXPECT_EQ(texts.size(), variants.size() + 1);
  EXPECT_EQ(CacheKey::make(base).text, CacheKey::make(base).text);
}

TEST_F(CacheEntryTest, NothingElseChangesTheKey) {
  // The same fields elsewhere in memory, in another process on another day.
  auto make = [](std::string source, std::string header) {
    CacheKeyFields fields;
    fields.source = source;
    fields.headers = {{header, "text"}};
    fields.options = {"-std=c++20", "-lineinfo"};
    fields.arch = "sm_90a";
    fields.compiler = "NVRTC 13.0.88";
    fields.entryNames = {"row"};
    return CacheKey::make(fields);
  };
  CacheKey a = make("source", "a.cuh");
  setenv("SWAGE_CACHE_DIR", "/elsewhere", 1);
  CacheKey b = make("source", "a.cuh");
  unsetenv("SWAGE_CACHE_DIR");
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.text,
            "schema 1\n2\ncompiler 13\nNVRTC 13.0.88\narch 6\nsm_90a\noption 10\n-std=c++20\n"
            "option 9\n-lineinfo\nentry 3\nrow\nheaders 32\n"
            "89a466893f89a88c8f625bab6328522a\nsource 6\nsource\n");
  EXPECT_EQ(a.hash.hex(), "dbb25a68de79f4b9258c57771fbffbfe")
      << "every cache of every user starts cold: is a new schema meant?";
}

TEST_F(CacheEntryTest, FieldsOfAKey) {
  CacheKeyFields fields;
  fields.source = "x\noption 3\n-no";
  fields.options = {"-a", "", "-b\nc"};
  fields.compiler = "NVRTC 13.0.88";
  std::string text = CacheKey::make(fields).text;
  EXPECT_EQ(keyField(text, "option"), fields.options);
  EXPECT_EQ(keyField(text, "compiler"), std::vector<std::string>{fields.compiler});
  EXPECT_EQ(keyField(text, "source"), std::vector<std::string>{std::string(fields.source)});
  EXPECT_TRUE(keyField(text, "none").empty());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_LE(keyField(text.substr(0, size), "option").size(), 3u);
  for (const char *bad : {"option 99999999999999999999999\nx\n", "option x\ny\n", "option", "\n",
                          "option 5\nabc\n", "option -1\nabc\n"})
    EXPECT_TRUE(keyField(bad, "option").empty()) << bad;
}

TEST_F(CacheEntryTest, FileNames) {
  std::string name = entryFileName(key().hash);
  EXPECT_TRUE(isEntryFileName(name));
  for (const std::string &bad :
       {"x" + name, name + "x", name.substr(1), std::string(), std::string(".kernel"),
        "g" + name.substr(1), "../" + name.substr(3)})
    EXPECT_FALSE(isEntryFileName(bad)) << bad;
}

TEST_F(CacheEntryTest, AFieldCannotImitateAnother) {
  CacheKeyFields a, b;
  a.source = "x\nsource 1\ny";
  b.source = "x";
  EXPECT_NE(CacheKey::make(a).text, CacheKey::make(b).text);
  a = b = CacheKeyFields();
  a.options = {"-a\noption 2\n-b"};
  b.options = {"-a", "-b"};
  EXPECT_NE(CacheKey::make(a).text, CacheKey::make(b).text);
}

TEST_F(CacheEntryTest, RoundTrip) {
  KernelBinary original = binary();
  auto parsed = parseEntry(serializeEntry(key(), original), nullptr);
  ASSERT_TRUE(parsed) << parsed.error().str();
  EXPECT_EQ(parsed->name, original.name);
  EXPECT_EQ(parsed->arch, original.arch);
  EXPECT_EQ(parsed->image, original.image);
  EXPECT_EQ(parsed->ptx, original.ptx);
  EXPECT_EQ(parsed->log, original.log);
  EXPECT_EQ(parsed->resources.registers, 24);
  EXPECT_EQ(parsed->resources.spillStores, 4);
  EXPECT_EQ(parsed->resources.spillLoads, 8);
  EXPECT_EQ(parsed->resources.stackFrame, 16);
  EXPECT_EQ(parsed->resources.sharedBytes, 528);
  EXPECT_EQ(parsed->resources.barriers, 1);
}

TEST_F(CacheEntryTest, EveryTruncationIsNoticed) {
  std::string bytes = serializeEntry(key(), binary(300));
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_FALSE(parseEntry(std::string_view(bytes).substr(0, length), nullptr)) << length;
  EXPECT_FALSE(parseEntry(bytes + '\0', nullptr));
}

TEST_F(CacheEntryTest, EveryBitFlipIsNoticed) {
  std::string bytes = serializeEntry(key(), binary(300));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= char(1 << bit % 8);
    ASSERT_FALSE(parseEntry(bytes, nullptr)) << bit;
    bytes[bit / 8] ^= char(1 << bit % 8);
  }
  EXPECT_TRUE(parseEntry(bytes, nullptr));
}

TEST_F(CacheEntryTest, AForeignSchemaIsNamed) {
  std::string bytes = serializeEntry(key(), binary());
  bytes[8] = 77;
  auto parsed = parseEntry(bytes, nullptr);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "the cache entry has schema 77; needed: 2");
}

TEST_F(CacheEntryTest, LyingSizesAreNoticed) {
  // With a valid checksum, as a hostile writer would have it.
  std::string bytes = serializeEntry(key(), binary(300));
  for (int section = 0; section < 6; ++section)
    for (uint64_t size : {~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 32, uint64_t{0}}) {
      std::string changed = bytes.substr(0, bytes.size() - 16);
      changed.replace(40 + 8 * section, 8, reinterpret_cast<const char *>(&size), 8);
      Hash128 checksum = hashBytes(changed);
      changed.append(reinterpret_cast<const char *>(&checksum.high), 8);
      changed.append(reinterpret_cast<const char *>(&checksum.low), 8);
      ASSERT_FALSE(parseEntry(changed, nullptr)) << section << " " << size;
    }
}

TEST_F(CacheEntryTest, AnotherKeyIsRefused) {
  CacheKey mine = key(), other = key("other source");
  std::string bytes = serializeEntry(other, binary());
  auto parsed = parseEntry(bytes, &mine);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "the cache entry belongs to another key");
  EXPECT_TRUE(parseEntry(bytes, &other));
}
