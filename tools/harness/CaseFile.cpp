//===- CaseFile.cpp - Families and sweeps from a small text ---------------===//

#include "CaseFile.h"

#include "swage/Support/Options.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>

using namespace swage;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static std::optional<int64_t> parseNumber(std::string_view text, int64_t least) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // Beyond, the product of two of them has no 64 bits.
  if (error != std::errc() || end != text.data() + text.size() || number < least ||
      number > INT32_MAX)
    return std::nullopt;
  return number;
}

static std::optional<std::vector<int64_t>>
parseNumbers(std::string_view text, std::string_view separators, int64_t least) {
  std::vector<int64_t> numbers;
  for (std::string_view part : splitAt(text, separators)) {
    std::optional<int64_t> number = parseNumber(part, least);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

static bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return number > 1;
}

std::vector<int64_t> swage::sweepLengths(int64_t first, int64_t last, int64_t count) {
  constexpr int64_t kMost = 10000; // that a person may have meant
  if (first < 1 || last < first || count < 1 || count > std::min(kMost, last - first + 1))
    return {};
  std::set<int64_t> lengths{first};
  if (count > 1)
    lengths.insert(last);
  for (int64_t i = 1; i + 1 < count; ++i) {
    double even = double(first) * std::pow(double(last) / double(first), double(i) / (count - 1));
    int64_t length = std::llround(even);
    if (length >= 64 && i % 3 == 0)
      length = std::max(first, length / 8 * 8);
    while (length >= 64 && i % 3 == 1 && !isPrime(length))
      ++length;
    // Short lengths stand close together: the next free one, and at the end of the range the last.
    while (length < last && lengths.count(length))
      ++length;
    while (length >= last || lengths.count(length))
      --length;
    lengths.insert(length);
  }
  return {lengths.begin(), lengths.end()};
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {
/// What a line says, before it is known which of it its family needs.
struct Line {
  std::string_view family;
  std::vector<std::vector<int64_t>> shapes; ///< of words such as 8192x768
  std::vector<int64_t> permutation;         ///< of a word such as 1,0,2
  std::vector<std::string> elements;
  std::vector<int64_t> rows, columns, offsets;
  uint64_t bytes = 0;
  int64_t torch = 0;
};
} // namespace

static Error wrong(const std::string &message) { return makeError(Stage::Input, message); }

static Error unknownWord(std::string_view what, std::string_view word,
                         const std::vector<std::string_view> &known) {
  std::string nearest = nearestMatch(word, known);
  return wrong(fmt::format("'{}' is no {}; there {} {}{}", printable(word), what,
                           known.size() == 1 ? "is" : "are",
                           join({known.begin(), known.end()}, ", "),
                           nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

static Expected<std::vector<int64_t>> parseColumns(std::string_view value) {
  size_t dots = value.find("..");
  if (dots == value.npos) {
    if (auto numbers = parseNumbers(value, ",", 1))
      return *numbers;
    return wrong(fmt::format("cols={}: needed: lengths such as 768,1024, or a range such as "
                             "1..300000/60",
                             printable(value)));
  }
  size_t slash = std::min(value.find('/', dots), value.size());
  auto first = parseNumber(value.substr(0, dots), 1),
       last = parseNumber(value.substr(dots + 2, slash - dots - 2), 1),
       count = parseNumber(value.substr(std::min(slash + 1, value.size())), 1);
  std::vector<int64_t> lengths;
  if (first && last && count)
    lengths = sweepLengths(*first, *last, *count);
  if (lengths.empty())
    return wrong(fmt::format("cols={}: needed: FIRST..LAST/COUNT, with COUNT lengths in between",
                             printable(value)));
  return lengths;
}

static Status parseSetting(std::string_view key, std::string_view value, Line &line) {
  static const std::vector<std::string_view> known = {"rows", "cols", "bytes", "offset", "torch"};
  auto numbers = [&](std::vector<int64_t> &to, int64_t least) -> Status {
    auto parsed = parseNumbers(value, ",", least);
    if (!parsed)
      return wrong(fmt::format("{}={}: needed: numbers from {}, with commas between", key,
                               printable(value), least));
    to = *parsed;
    return {};
  };
  if (key == "rows")
    return numbers(line.rows, 1);
  if (key == "offset")
    return numbers(line.offsets, 0);
  if (key == "cols") {
    auto columns = parseColumns(value);
    if (!columns)
      return columns.takeError();
    line.columns = *columns;
    return {};
  }
  if (key == "bytes") {
    auto bytes = parseByteSize(value);
    if (!bytes || *bytes == 0)
      return wrong(
          fmt::format("bytes={}: needed: a size such as 268435456 or 256M", printable(value)));
    line.bytes = *bytes;
    return {};
  }
  if (key == "torch") {
    auto count = parseNumber(value, 1);
    if (!count)
      return wrong(fmt::format("torch={}: needed: how many lengths", printable(value)));
    line.torch = *count;
    return {};
  }
  return unknownWord("setting", key, known);
}

static Status parseWord(std::string_view word, Line &line) {
  static const std::vector<std::string_view> types = {"f16", "bf16", "f32", "f64",
                                                      "i8",  "i32",  "i64"};
  if (size_t equals = word.find('='); equals != word.npos)
    return parseSetting(word.substr(0, equals), word.substr(equals + 1), line);
  if (std::find(types.begin(), types.end(), word) != types.end()) {
    line.elements.emplace_back(word);
    return {};
  }
  if (word.front() < '0' || word.front() > '9')
    return unknownWord("element type", word, types);
  if (word.find(',') != word.npos) {
    auto permutation = parseNumbers(word, ",", 0);
    if (!permutation || !line.permutation.empty())
      return wrong(fmt::format("'{}': needed: one permutation such as 1,0,2", printable(word)));
    line.permutation = *permutation;
    return {};
  }
  auto shape = parseNumbers(word, "x", 1);
  double elements = 1;
  for (int64_t extent : shape.value_or(std::vector<int64_t>()))
    elements *= double(extent);
  if (!shape || elements > 1e12)
    return wrong(fmt::format("'{}': needed: extents such as 8192x768", printable(word)));
  line.shapes.push_back(*shape);
  return {};
}

/// The shapes of a row family: as words, or all lengths with the rows or the bytes.
static Status collectRowShapes(Line &line) {
  bool swept = !line.columns.empty();
  if (swept != (!line.rows.empty() || line.bytes != 0) || (!line.rows.empty() && line.bytes != 0))
    return wrong("needed: cols=... with either rows=... or bytes=...");
  if (line.shapes.empty() && !swept)
    return wrong("needed: a shape such as 8192x768, or cols=... with rows=... or bytes=...");
  for (const auto &shape : line.shapes)
    if (shape.size() != 2)
      return wrong(fmt::format("a shape has {} extents; needed: 2", shape.size()));
  return {};
}

static void addRowCases(const Line &line, std::vector<BenchCase> &cases) {
  std::string family(line.family);
  std::set<int64_t> marked;
  int64_t lengths = int64_t(line.columns.size()), torch = std::min(line.torch, lengths);
  for (int64_t i = 0; i < torch; ++i)
    marked.insert(torch == 1 ? lengths / 2 : i * (lengths - 1) / (torch - 1));
  const auto &all = line.elements;
  std::string forTorch =
      std::find(all.begin(), all.end(), "bf16") != all.end() ? "bf16" : all.front();
  auto add = [&](int64_t rows, int64_t length, const std::string &element, bool isMarked) {
    for (int64_t offset : line.offsets) {
      cases.push_back(rowCase(family, rows, length, element));
      cases.back().offset = offset;
      if (offset != 0)
        cases.back().name += fmt::format(" offset {}", offset);
      cases.back().torch = line.torch != 0 && isMarked && element == forTorch && offset == 0;
    }
  };
  for (const std::string &element : line.elements) {
    for (const auto &shape : line.shapes)
      add(shape[0], shape[1], element, true);
    for (int64_t i = 0; i < lengths; ++i) {
      int64_t length = line.columns[size_t(i)], width = element == "f64"   ? 8
                                                        : element == "f32" ? 4
                                                                           : 2;
      std::vector<int64_t> rows = line.rows;
      if (line.bytes != 0)
        rows = {std::max<int64_t>(1, int64_t(line.bytes) / (streamsOf(family) * length * width))};
      for (int64_t count : rows)
        add(count, length, element, marked.count(i) != 0);
    }
  }
}

static Expected<std::vector<BenchCase>> addPeerCases(const std::vector<std::string_view> &words) {
  std::vector<BenchCase> cases;
  std::vector<std::string_view> groups(words.begin() + 1, words.end());
  for (std::string_view group : groups.empty() ? peerGroups() : groups) {
    std::vector<BenchCase> more = peerCases(group);
    if (more.empty())
      return unknownWord("group of peers.py", group, peerGroups());
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

static Expected<std::vector<BenchCase>> addGraphs(const std::vector<std::string_view> &words,
                                                  const std::string &directory) {
  std::vector<BenchCase> cases;
  for (size_t i = 1; i < words.size(); ++i) {
    if (size_t equals = words[i].find('='); !cases.empty() && equals != std::string_view::npos) {
      auto from = parseNumber(words[i].substr(0, equals), 0),
           to = parseNumber(words[i].substr(equals + 1), 0);
      if (!from || !to)
        return wrong(fmt::format("{}: needed: two extents such as 16384=37", printable(words[i])));
      cases.back().extents[*from] = *to;
      cases.back().name += fmt::format(" {}", words[i]);
      continue;
    }
    BenchCase graph;
    graph.family = "graph";
    graph.file = words[i];
    size_t slash = graph.file.rfind('/'), begin = slash == std::string::npos ? 0 : slash + 1;
    graph.name = graph.file.substr(begin, graph.file.rfind(".mlir") - begin);
    if (graph.file.front() != '/' && !directory.empty())
      graph.file = directory + "/" + graph.file;
    cases.push_back(std::move(graph));
  }
  if (cases.empty())
    return wrong("needed: graph FILE.mlir");
  return cases;
}

static Expected<std::vector<BenchCase>> addCopies(const std::vector<std::string_view> &words) {
  std::vector<BenchCase> cases;
  for (size_t i = 1; i < words.size(); ++i) {
    auto megabytes = parseNumber(words[i], 1);
    if (!megabytes || *megabytes > 1 << 20)
      return wrong(fmt::format("copy {}: needed: megabytes", printable(words[i])));
    cases.push_back(copyCase(*megabytes));
  }
  if (cases.empty())
    return wrong("needed: copy MEGABYTES");
  return cases;
}

/// attention or decode: shapes of six extents, element types of what is read, and "causal".
static Expected<std::vector<BenchCase>> addAttention(const std::vector<std::string_view> &words) {
  bool isDecode = words.front() == "decode", isCausal = false;
  const std::vector<std::string_view> known =
      isDecode ? std::vector<std::string_view>{"bf16", "i8", "f8E4M3FN"}
               : std::vector<std::string_view>{"f16", "bf16", "f32", "f8E4M3FN", "causal"};
  std::vector<AttentionShape> shapes;
  std::vector<std::string> elements;
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word == "causal" && !isDecode) {
      isCausal = true;
    } else if (std::find(known.begin(), known.end(), word) != known.end()) {
      elements.emplace_back(word);
    } else if (word.front() < '0' || word.front() > '9') {
      return unknownWord("word of " + std::string(words.front()), word, known);
    } else {
      auto shape = parseNumbers(word, "x", 1);
      if (!shape || shape->size() != 6 || (*shape)[1] % (*shape)[2] != 0)
        return wrong(fmt::format("'{}': needed: BATCHxHEADSxKEYHEADSxQUERIESxKEYSxDIM, with heads "
                                 "a multiple of key heads, such as 64x32x8x1x4096x128",
                                 printable(word)));
      shapes.push_back(
          {(*shape)[0], (*shape)[1], (*shape)[2], (*shape)[3], (*shape)[4], (*shape)[5]});
    }
  }
  if (shapes.empty() || elements.empty())
    return wrong(fmt::format("needed: a shape such as 64x32x8x1x4096x128, and an element type: {}",
                             join({known.begin(), known.end() - (isDecode ? 0 : 1)}, ", ")));
  std::vector<BenchCase> cases;
  for (const std::string &element : elements)
    for (const AttentionShape &shape : shapes)
      cases.push_back(isDecode ? decodeCase(shape, element)
                               : attentionCase(shape, isCausal, element));
  return cases;
}

static Status checkPermutation(const Line &line) {
  std::vector<int64_t> sorted = line.permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int64_t(i))
      return wrong("the permutation does not name each dimension once");
  for (const auto &shape : line.shapes)
    if (shape.size() != line.permutation.size())
      return wrong(fmt::format("a shape has {} extents, but the permutation {}", shape.size(),
                               line.permutation.size()));
  return {};
}

Expected<std::vector<BenchCase>> swage::parseCaseLine(std::string_view text,
                                                      const std::string &directory) {
  std::vector<std::string_view> words;
  for (std::string_view word : splitAt(text.substr(0, text.find('#')), " \t\r"))
    if (!word.empty())
      words.push_back(word);
  if (words.empty())
    return std::vector<BenchCase>();
  Line line;
  line.family = words.front();
  if (line.family == "peers")
    return addPeerCases(words);
  if (line.family == "graph")
    return addGraphs(words, directory);
  if (line.family == "copy")
    return addCopies(words);
  if (line.family == "attention" || line.family == "decode")
    return addAttention(words);
  const auto &rows = rowFamilies();
  bool isRow = std::find(rows.begin(), rows.end(), line.family) != rows.end();
  bool isMasked = line.family == "mask_softmax" || line.family == "causal_softmax";
  if (!isRow && !isMasked && line.family != "permute") {
    std::vector<std::string_view> known = rows;
    for (std::string_view other : {"mask_softmax", "causal_softmax", "permute", "attention",
                                   "decode", "copy", "peers", "graph"})
      known.push_back(other);
    return unknownWord("family", line.family, known);
  }
  for (size_t i = 1; i < words.size(); ++i)
    if (Status parsed = parseWord(words[i], line); !parsed)
      return parsed.takeError();
  if (line.elements.empty())
    return wrong("needed: an element type: f16, bf16, f32 or f64");
  if (!isRow && (!line.columns.empty() || !line.rows.empty() || line.bytes || line.torch ||
                 !line.offsets.empty()))
    return wrong(fmt::format("{} takes shapes and types only", line.family));
  if (line.family != "permute")
    for (const std::string &element : line.elements)
      if (element.front() == 'i')
        return wrong(fmt::format("{} has no integers", line.family));
  if (line.offsets.empty())
    line.offsets = {0};
  std::vector<BenchCase> cases;
  if (isRow) {
    if (!line.permutation.empty())
      return wrong(fmt::format("{} takes no permutation", line.family));
    if (Status collected = collectRowShapes(line); !collected)
      return collected.takeError();
    addRowCases(line, cases);
    return cases;
  }
  if (line.shapes.empty())
    return wrong("needed: a shape");
  if (line.family == "permute") {
    if (Status checked = checkPermutation(line); !checked)
      return checked.takeError();
  }
  for (const std::string &element : line.elements)
    for (const auto &shape : line.shapes) {
      if (isMasked && shape.size() != 3)
        return wrong("needed: BATCHxHEADSxLENGTH");
      cases.push_back(isMasked ? maskedSoftmaxCase(std::string(line.family), shape[0], shape[1],
                                                   shape[2], element)
                               : permuteCase(shape, line.permutation, element));
    }
  return cases;
}

Expected<std::vector<BenchCase>> swage::parseCases(std::string_view text,
                                                   const std::string &filename) {
  size_t slash = filename.rfind('/');
  std::string directory = slash == std::string::npos ? "" : filename.substr(0, slash);
  std::vector<BenchCase> cases;
  int number = 0;
  for (std::string_view line : splitAt(text, "\n")) {
    ++number;
    auto more = parseCaseLine(line, directory);
    if (!more) {
      Error error = more.takeError();
      error.message = fmt::format("{}:{}: {}", printable(filename), number, error.message);
      return error;
    }
    cases.insert(cases.end(), more->begin(), more->end());
  }
  return cases;
}
