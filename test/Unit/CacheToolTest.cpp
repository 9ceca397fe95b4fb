//===- CacheToolTest.cpp - swage-cache ------------------------------------===//
//
// The tool is run as a user runs it, on directories that the cache itself has written.
//
//===----------------------------------------------------------------------===//
#include "CacheTestSupport.h"
#include "FakeProgram.h"
#include "swage/Runtime/VariantEntry.h"
#include "swage/Support/Text.h"

#include <cstdio>
#include <sys/wait.h>

using namespace swage;

namespace {
class CacheToolTest : public CacheTest {
protected:
  static constexpr time_t kHour = 3600;

  /// What the tool prints, both streams, and its exit code.
  std::pair<std::string, int> tool(const std::string &arguments) {
    std::string command = "env -i SWAGE_CACHE_DIR='" + options.cacheDir + "' " + environment +
                          " '" SWAGE_CACHE_TOOL "' " + arguments + " 2>&1";
    std::FILE *pipe = popen(command.c_str(), "r");
    EXPECT_TRUE(pipe);
    std::string text;
    char chunk[4096];
    while (size_t count = fread(chunk, 1, sizeof chunk, pipe))
      text.append(chunk, count);
    int status = pclose(pipe);
    return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  }
  void expect(const std::string &arguments, int code, const std::string &text) {
    auto [actual, actualCode] = tool(arguments);
    EXPECT_EQ(actualCode, code) << arguments << "\n" << actual;
    std::string wanted = text;
    for (size_t at; (at = wanted.find("%D")) != wanted.npos;)
      wanted.replace(at, 2, options.cacheDir);
    EXPECT_EQ(actual, wanted) << arguments;
  }
  CacheKey named(const std::string &name) const {
    CacheKeyFields fields;
    std::string source = "// " + name + "\n";
    fields.source = source;
    fields.arch = "sm_90a";
    fields.compiler = "NVRTC 13.0.88";
    fields.entryNames = {name};
    return CacheKey::make(fields);
  }
  /// Adds a kernel that was last used `hours` ago.
  std::string add(const std::string &name, size_t bytes, int hours) {
    KernelBinary kernel = binary(bytes);
    kernel.name = name;
    CacheKey key = named(name);
    EXPECT_TRUE(open()->getOrCompile(key, [&]() -> Expected<KernelBinary> { return kernel; }));
    setAge(entryPath(key), hours * kHour + 60);
    return key.hash.hex();
  }

  std::string environment;
};
} // namespace

TEST_F(CacheToolTest, List) {
  expect("list", 0, "0 kernels, 0B of 2.0G in '%D'\n");
  std::string a = add("row_a", 5000, 1), b = add("b", 3000, 72), c = add("copy\x1b[31m", 9000, 5);
  auto line = [](const std::string &hash, const char *rest) { return hash.substr(0, 16) + rest; };
  std::string head = "hash              kernel        arch    compiler       size  used\n";
  std::string lineA = line(a, "  row_a         sm_90a  NVRTC 13.0.88  5.2K    1h\n");
  std::string lineB = line(b, "  b             sm_90a  NVRTC 13.0.88  3.2K    3d\n");
  std::string lineC = line(c, "  copy\\x1b[31m  sm_90a  NVRTC 13.0.88  9.1K    5h\n");
  std::string total = "3 kernels, 17.4K of 2.0G in '%D'\n";
  expect("list", 0, head + lineA + lineC + lineB + total);
  expect("list --sort=size", 0, head + lineC + lineA + lineB + total);
  expect("list --sort name", 0, head + lineB + lineC + lineA + total);
  environment = "SWAGE_CACHE_LIMIT=none SWAGE_CAHCE=off";
  auto [text, code] = tool("list");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(text.find("swage-cache: warning: unknown environment variable SWAGE_CAHCE; did you "
                      "mean SWAGE_CACHE?\n"),
            0u);
  EXPECT_NE(text.find("\n3 kernels, 17.4K in '"), text.npos);
  // To look is not to use.
  EXPECT_GT(age(options.cacheDir + "/" + b + ".kernel"), 71 * kHour);
}

TEST_F(CacheToolTest, Verify) {
  std::string a = add("a", 5000, 3), b = add("b", 5000, 2), c = add("c", 5000, 1);
  expect("verify", 0, "3 whole (15.4K), 0 damaged in '%D'\n");
  std::string cut = options.cacheDir + "/" + a + ".kernel";
  std::filesystem::resize_file(cut, 50);
  setAge(cut, 3 * kHour);
  std::string other = options.cacheDir + "/" + std::string(32, '0') + ".kernel";
  std::filesystem::copy_file(options.cacheDir + "/" + c + ".kernel", other);
  setAge(other, 2 * kHour - 60);
  std::string none = options.cacheDir + "/" + std::string(32, '1') + ".kernel";
  ASSERT_TRUE(writeFile(none, "no entry"));
  ASSERT_EQ(chmod(none.c_str(), 0600), 0);
  std::string cutLine = a + ".kernel: the cache entry has 50 bytes, too few for a header";
  std::string otherLine = std::string(32, '0') + ".kernel: the cache entry belongs to another key";
  std::string noneLine =
      std::string(32, '1') + ".kernel: the cache entry has 8 bytes, too few for a header";
  expect("verify", 1,
         cutLine + "\n" + otherLine + "\n" + noneLine + "\n2 whole (10.3K), 3 damaged in '%D'\n");
  auto [text, code] = tool("list");
  EXPECT_EQ(code, 0);
  EXPECT_NE(text.find("(damaged)"), text.npos);
  EXPECT_NE(text.find("; 3 damaged, see swage-cache verify\n"), text.npos);
  expect("verify --remove", 1,
         cutLine + "; removed\n" + otherLine + "; removed\n" + noneLine +
             "; it does not start like an entry, and stays\n"
             "2 whole (10.3K), 3 damaged (2 removed) in '%D'\n");
  EXPECT_EQ(fileCount(), 3u);
  EXPECT_EQ(std::filesystem::file_size(none), 8u);
}

TEST_F(CacheToolTest, Prune) {
  add("a", 5000, 1), add("b", 5000, 30), add("c", 5000, 300);
  expect("prune", 0, "removed 0 entries (0B), 3 left (15.4K) in '%D'\n");
  expect("prune --to=11K --dry-run", 0, "would remove 1 entry (5.1K), 2 left (10.3K) in '%D'\n");
  EXPECT_EQ(fileCount(), 3u);
  expect("prune --older-than 8d", 0, "removed 1 entry (5.1K), 2 left (10.3K) in '%D'\n");
  expect("prune --older-than=31h", 0, "removed 0 entries (0B), 2 left (10.3K) in '%D'\n");
  setAge(options.cacheDir + "/.1-2-3.tmp", 25 * kHour);
  setAge(options.cacheDir + "/notes.txt", 25 * kHour);
  expect("prune --to=6000", 0, "removed 1 entry (5.1K), 1 left (5.1K) in '%D'\n");
  EXPECT_EQ(fileCount(), 2u);
  environment = "SWAGE_CACHE_LIMIT=1K";
  expect("prune", 0, "removed 1 entry (5.1K), 0 left (0B) in '%D'\n");
  EXPECT_TRUE(std::filesystem::exists(options.cacheDir + "/notes.txt"));
}

TEST_F(CacheToolTest, Clear) {
  expect("clear", 0, "removed 0 entries (0B), 0 left (0B) in '%D'\n");
  add("a", 5000, 1), add("b", 5000, 30);
  setAge(options.cacheDir + "/notes.txt", 0);
  expect("clear --dry-run", 0, "would remove 2 entries (10.3K), 0 left (0B) in '%D'\n");
  EXPECT_EQ(fileCount(), 3u);
  expect("clear", 0, "removed 2 entries (10.3K), 0 left (0B) in '%D'\n");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(CacheToolTest, SourcesThatDidNotCompile) {
  add("a", 5000, 1);
  std::string path = open()->keepFailedSource("no C++", "an error");
  ASSERT_FALSE(path.empty());
  expect("verify", 0, "1 whole (5.1K), 0 damaged in '%D'\n");
  expect("prune --to=0", 0, "removed 1 entry (5.1K), 0 left (0B) in '%D'\n");
  expect("clear --dry-run", 0, "would remove 0 entries (0B), 0 left (0B) in '%D'\n");
  EXPECT_TRUE(std::filesystem::exists(path));
  expect("clear", 0,
         "removed 1 source that did not compile\nremoved 0 entries (0B), 0 left (0B) in '%D'\n");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CacheToolTest, Extract) {
  std::string a = add("row_a", 5000, 1), b = add("../../b", 3000, 2);
  std::string out = root + "/out";
  ASSERT_EQ(mkdir(out.c_str(), 0755), 0);
  std::string stem = out + "/row_a-" + a.substr(0, 8);
  expect("extract " + a.substr(0, 10) + " --out=" + out, 0,
         stem + ".cubin (4.9K)\n" + stem + ".cu (9B)\n" + stem + ".ptx (12B)\n" + stem +
             ".log (10B)\n");
  EXPECT_EQ(*readFile(stem + ".cubin"), binary(5000).image);
  EXPECT_EQ(*readFile(stem + ".cu"), "// row_a\n");
  EXPECT_EQ(*readFile(stem + ".ptx"), ".version 9.0");
  EXPECT_EQ(*readFile(stem + ".log"), "ptxas info");
  auto [text, code] = tool("extract " + b + " --out=" + out);
  EXPECT_EQ(code, 0) << text;
  EXPECT_TRUE(std::filesystem::exists(out + "/______b-" + b.substr(0, 8) + ".cubin"));

  expect("extract xyz", 1,
         "swage-cache: no entry has the hash 'xyz' in '%D'; swage-cache list shows what is "
         "there\n");
  std::string twin = options.cacheDir + "/" + a.substr(0, 8) + std::string(24, '0') + ".kernel";
  std::filesystem::copy_file(options.cacheDir + "/" + a + ".kernel", twin);
  auto [ambiguous, ambiguousCode] = tool("extract " + a.substr(0, 8));
  EXPECT_EQ(ambiguousCode, 1);
  EXPECT_NE(ambiguous.find("begins the hashes of 2 entries"), ambiguous.npos) << ambiguous;
  auto [wrong, wrongCode] = tool("extract " + a.substr(0, 8) + "0000");
  EXPECT_EQ(wrongCode, 1);
  EXPECT_NE(wrong.find("belongs to another key"), wrong.npos) << wrong;
  auto [nowhere, nowhereCode] = tool("extract " + a + " --out=" + root + "/none");
  EXPECT_EQ(nowhereCode, 2);
  EXPECT_NE(nowhere.find("No such file or directory"), nowhere.npos) << nowhere;
}

TEST_F(CacheToolTest, ResultsOfPasses) {
  VariantKeyFields fields;
  fields.passes = "0123abcd";
  fields.kind = "variant";
  fields.graph = "func.func @main() { return }\n";
  fields.arch = "sm_90a";
  Guards guards;
  guards.alignment = {16, 16, 16};
  guards.extents.resize(3);
  LoweredVariant lowered{test::FakeSource::variant(guards), {0}};
  lowered.variant->kernels[0].binary = nullptr;
  lowered.variant->kernels[0].source = "// the source\n";
  CacheKey variant = variantKey(fields);
  open()->keepVariant(variant, "main", "sm_90a", serializeLowered(lowered));
  setAge(entryPath(variant), kHour + 60);
  fields.kind = "needs";
  CacheKey needs = variantKey(fields);
  open()->keepVariant(needs, "main", "sm_90a", serializeNeeds({ExtentNeeds()}));
  setAge(entryPath(needs), 2 * kHour + 60);
  add("row_a", 5000, 3);

  auto [text, code] = tool("list");
  EXPECT_EQ(code, 0);
  for (std::string line : {"  main (variant)  sm_90a  Swage 0123abcd", "  main (needs)    sm_90a  ",
                           "\n1 kernel, 2 results of passes, "})
    EXPECT_NE(text.find(line), text.npos) << line << text;
  std::string out = root + "/out";
  ASSERT_EQ(mkdir(out.c_str(), 0755), 0);
  std::string stem = out + "/main-" + variant.hash.hex().substr(0, 8);
  expect("extract " + variant.hash.hex() + " --out=" + out, 0,
         stem + ".mlir (29B)\n" + stem + "-add.cu (14B)\n");
  EXPECT_EQ(*readFile(stem + "-add.cu"), "// the source\n");
  EXPECT_EQ(tool("verify").second, 0);

  // Whole as an entry, and still nothing that passes made.
  open()->keepVariant(variant, "main", "sm_90a", "no variant");
  open()->keepVariant(needs, "main", "sm_90a", "");
  auto [damage, found] = tool("verify");
  EXPECT_EQ(found, 1);
  EXPECT_NE(damage.find("the cache entry is damaged: its fields do not end"), damage.npos)
      << damage;
  EXPECT_NE(damage.find("2 damaged"), damage.npos) << damage;
}

TEST_F(CacheToolTest, Usage) {
  auto [help, code] = tool("--help");
  EXPECT_EQ(code, 0);
  EXPECT_EQ(help.find("usage: swage-cache [--dir=DIRECTORY] COMMAND\n"), 0u);
  std::string see = "; see swage-cache --help\n";
  for (auto [arguments, message] : std::vector<std::pair<const char *, const char *>>{
           {"", "a command is needed: list, verify, prune, extract or clear"},
           {"verfy", "unknown command 'verfy'; did you mean 'verify'?"},
           {"list --srot=size", "unknown option '--srot'; did you mean '--sort'?"},
           {"list --sort=colour", "--sort='colour'; needed: used, size or name"},
           {"list --sort", "--sort=''; needed: used, size or name"},
           {"list x", "'x' is one argument too many"},
           {"list --to=5", "--to is no option of list"},
           {"prune --to=much", "--to='much'; needed: a size such as 500M or 2G"},
           {"prune --older-than=7", "--older-than='7'; needed: an age such as 30m, 12h, 7d or 2w"},
           {"prune --older-than=999999999999d",
            "--older-than='999999999999d'; needed: an age such as 30m, 12h, 7d or 2w"},
           {"prune --dry-run=yes", "--dry-run takes no value"},
           {"extract", "extract needs the hash of an entry, as list shows it"}})
    expect(arguments, 2, std::string("swage-cache: ") + message + see);
}

TEST_F(CacheToolTest, DirectoriesThatCannotBeTrusted) {
  add("a", 5000, 1);
  expect("list --dir=" + root + "/none", 0, "0 kernels, 0B of 2.0G in '" + root + "/none'\n");
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0770), 0);
  for (const char *command : {"list", "verify", "prune", "clear", "extract a"})
    expect(command, 2,
           "swage-cache: kernel cache '%D': cannot use it: others may write to it (mode 0770; "
           "needed: 0700)\n");
  EXPECT_EQ(fileCount(), 1u);
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0700), 0);
  ASSERT_EQ(symlink(options.cacheDir.c_str(), (root + "/link").c_str()), 0);
  expect("clear --dir " + root + "/link", 2,
         "swage-cache: kernel cache '" + root +
             "/link': cannot use it: it is a symbolic link or not a directory\n");
  options.cacheDir.clear();
  expect("list", 2,
         "swage-cache: there is no directory for the cache: set SWAGE_CACHE_DIR or HOME, or give "
         "--dir\n");
}

TEST_F(CacheToolTest, AFullDisk) {
  add("a", 5000, 1);
  auto [text, code] = tool("list > /dev/full 2> " + root + "/messages; code=$?; cat " + root +
                           "/messages; exit $code #");
  EXPECT_EQ(code, 2);
  EXPECT_EQ(text, "swage-cache: cannot write to the standard output\n");
}
