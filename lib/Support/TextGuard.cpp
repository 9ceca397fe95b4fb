//===- TextGuard.cpp - Hostile text, before MLIR's parser sees it ---------===//
//
// A lexer of what matters for limits.  Where it sees the text otherwise than MLIR's lexer would, it
// must count too much and never too little: what is not a bracket to MLIR ends the parse there.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/TextGuard.h"
#include "swage/Support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace swage;

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isIdentifier(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '.';
}

class Guard {
public:
  Guard(std::string_view text, std::string_view file, const TextLimits &limits)
      : text(text), file(file), limits(limits) {}

  Status run() {
    if (text.size() > limits.bytes)
      return fail(0,
                  fmt::format("the text has {} bytes, but may have {}", text.size(), limits.bytes));
    while (at < text.size() && message.empty())
      next();
    if (!message.empty())
      return fail(failedAt, message);
    return {};
  }

private:
  /// How much an alias adds where it is used.
  struct Alias {
    size_t depth = 0, nodes = 1;
  };

  std::string_view text, file;
  const TextLimits &limits;
  size_t at = 0, lineStart = 0, tokens = 0;
  std::string message;
  size_t failedAt = 0;

  std::vector<char> open;
  std::unordered_map<std::string_view, Alias> aliases;
  /// The alias that is being defined, if one is.
  std::string_view defining;
  Alias definition;
  size_t aliasNodes = 0;
  /// Where `array<` has been read: of elements of index type, or of an alias of it, MLIR's parser
  /// asks for the width, and ends the process.
  enum class ArrayText { None, Name, Open } inArray = ArrayText::None;
  /// Depth at which an affine map began, and operators since; no map where the depth is 0.
  size_t affineDepth = 0, affineOperators = 0;

  Status fail(size_t position, const std::string &what) const {
    auto before = text.substr(0, position);
    size_t line = 1 + std::count(before.begin(), before.end(), '\n');
    size_t newline = before.rfind('\n');
    size_t column = newline == std::string_view::npos ? position + 1 : position - newline;
    return makeError(Stage::Parse,
                     fmt::format("{}:{}:{}: error: {}", printable(file), line, column, what));
  }
  void refuse(size_t position, std::string what) {
    if (message.empty())
      message = std::move(what), failedAt = position;
  }
  void countToken(size_t start) {
    if (++tokens > limits.tokens)
      refuse(start, fmt::format("the text has more than {} words, numbers, strings and brackets; a "
                                "large constant is one when it is given in hexadecimal",
                                limits.tokens));
    if (at - start > limits.tokenBytes)
      refuse(start, fmt::format("a word or number has {} bytes, but may have {}", at - start,
                                limits.tokenBytes));
  }
  char peek(size_t ahead) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  void next() {
    char c = text[at];
    if (c == '\0')
      return refuse(at, "a NUL byte");
    if (c == 'M' && at == lineStart && text.substr(at, 4) == "ML\xEFR")
      return refuse(at, "MLIR bytecode, but only text is accepted");
    if (c == '\n') {
      ++at;
      lineStart = at;
      return;
    }
    if (c == '/' && peek(1) == '/') {
      size_t newline = text.find('\n', at);
      size_t nul = text.substr(at, newline - at).find('\0');
      if (nul != std::string_view::npos)
        return refuse(at + nul, "a NUL byte");
      at = newline == std::string_view::npos ? text.size() : newline;
      return;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      return;
    }
    ArrayText array = std::exchange(inArray, ArrayText::None);
    if (c == '<' && array == ArrayText::Name)
      inArray = ArrayText::Open;
    if (array == ArrayText::Open && (c == '!' || text.substr(at, 5) == "index"))
      return refuse(at, "an array has elements of integer or float type, which is written out");
    if (c == '"')
      return string();
    if (isDigit(c))
      return number();
    if (isIdentifier(c))
      return word();
    if (c == '#' || c == '!')
      return sigil();
    if (c == '%' || c == '@' || c == '^') {
      ++at;
      identifier();
      return;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<')
      return push(c);
    if (c == '-' && peek(1) == '>') {
      at += 2;
      return;
    }
    if (c == '>' && peek(1) == '=') {
      at += 2;
      return;
    }
    if (c == ')' || c == ']' || c == '}' || c == '>')
      return pop(c);
    if (c == '+' || c == '-' || c == '*')
      affineOperator();
    ++at;
  }

  void string() {
    size_t start = at++;
    bool beginsLine = start == lineStart && open.empty();
    // A string ends with its line, closed or not: the parser refuses the latter.
    while (at < text.size() && text[at] != '"' && text[at] != '\n') {
      if (text[at] == '\0')
        return refuse(at, "a NUL byte");
      at += text[at] == '\\' && peek(1) != '\n' ? 2 : 1;
    }
    if (at < text.size() && text[at] == '"')
      ++at;
    at = std::min(at, text.size());
    if (beginsLine && peek(0) == '(') // an op in generic form
      finishDefinition();
    countToken(at);
  }

  /// Also a hexadecimal number, and an exponent with its sign.
  void number() {
    size_t start = at;
    while (at < text.size() && (isIdentifier(text[at]) || ((text[at] == '-' || text[at] == '+') &&
                                                           (text[at - 1] | 32) == 'e')))
      ++at;
    countToken(start);
  }

  std::string_view identifier() {
    size_t start = at;
    while (at < text.size() && (isIdentifier(text[at]) || (text[at] == '-' && peek(1) != '>')))
      ++at;
    countToken(start);
    return text.substr(start, at - start);
  }

  void word() {
    size_t start = at;
    std::string_view name = identifier();
    if (start == lineStart && open.empty() &&
        (name == "module" || name.find('.') != std::string_view::npos))
      finishDefinition();
    // Words take no minus sign; one inside is an operator.
    size_t minus = name.find('-');
    if (minus != std::string_view::npos) {
      name = name.substr(0, minus);
      at = start + minus;
    }
    if (name == "array") {
      inArray = ArrayText::Name;
    } else if (name == "affine_map" || name == "affine_set") {
      beginAffine();
    } else if (name == "floordiv" || name == "ceildiv" || name == "mod") {
      affineOperator();
    } else if ((name == "tensor" || name == "vector" || name == "memref") && peek(0) == '<') {
      shape();
    } else {
      integerType(start, name);
    }
  }

  void beginAffine() {
    if (!affineDepth) {
      affineDepth = open.size() + 1;
      affineOperators = 0;
    }
  }

  void affineOperator() {
    if (affineDepth && ++affineOperators > limits.affineOperators)
      refuse(at, fmt::format("an affine map has more than {} operators", limits.affineOperators));
  }

  /// i8, si8, ui8.
  void integerType(size_t start, std::string_view name) {
    size_t digits = name.substr(0, 1) == "i" ? 1 : name.size() > 1 && name[1] == 'i' ? 2 : 0;
    if (digits == 0 || digits == name.size() || (digits == 2 && name[0] != 's' && name[0] != 'u'))
      return;
    unsigned bits = 0;
    for (char c : name.substr(digits)) {
      if (!isDigit(c))
        return;
      bits = std::min(bits * 10 + static_cast<unsigned>(c - '0'), 100000000u);
    }
    if (bits > limits.integerBits)
      refuse(start,
             fmt::format("an integer type has {} bits, but may have {}", bits, limits.integerBits));
  }

  /// The extents after `tensor<`, up to the element type.
  void shape() {
    size_t start = at, rank = 0;
    int64_t elements = 1;
    push('<');
    if (!message.empty())
      return;
    for (;;) {
      size_t digits = at;
      int64_t extent = 0;
      bool huge = false;
      for (; isDigit(peek(0)); ++at) {
        huge = huge || extent > limits.elements;
        extent = huge ? extent : extent * 10 + (peek(0) - '0');
      }
      bool dynamic = at == digits && (peek(0) == '?' || peek(0) == '*');
      at += dynamic;
      if ((at == digits) || peek(0) != 'x') {
        at = digits;
        break;
      }
      ++at;
      if (++rank > limits.rank)
        return refuse(start, fmt::format("a tensor has a rank above {}", limits.rank));
      if (dynamic)
        continue;
      huge = huge || (extent && elements > limits.elements / extent);
      if (huge)
        return refuse(start, fmt::format("a tensor has more than {} elements", limits.elements));
      elements = extent ? elements * extent : elements;
    }
    // What follows an x is a type, not an identifier that starts with it.
    if (isIdentifier(peek(0)) && !isDigit(peek(0)))
      word();
  }

  /// An attribute or type of a dialect, or an alias: its definition at the start of a line outside
  /// of brackets, its use elsewhere.
  void sigil() {
    size_t start = at++;
    std::string_view name = identifier();
    std::string_view whole = text.substr(start, at - start);
    if (name.empty())
      return;
    // Attributes of a dialect may hold maps without a word before them.
    if (peek(0) == '<')
      beginAffine();
    size_t after = text.find_first_not_of(" \t", at);
    if (start == lineStart && open.empty() && after != std::string_view::npos &&
        text[after] == '=') {
      define(whole);
      return;
    }
    auto known = aliases.find(whole);
    if (known == aliases.end())
      return;
    checkDepth(start, open.size() + known->second.depth);
    addNodes(start, known->second.nodes);
    definition.depth = std::max(definition.depth, open.size() + known->second.depth);
  }

  /// A definition lasts until what can only be the next one or an op begins; values may go on over
  /// several lines.
  void define(std::string_view name) {
    finishDefinition();
    defining = name;
    definition = {};
  }
  void finishDefinition() {
    if (!defining.empty())
      aliases[defining] = definition;
    defining = {};
  }

  void addNodes(size_t position, size_t nodes) {
    definition.nodes = std::min(definition.nodes + nodes, limits.aliasNodes + 1);
    aliasNodes = std::min(aliasNodes + nodes, limits.aliasNodes + 1);
    if (aliasNodes > limits.aliasNodes)
      refuse(position,
             fmt::format("aliases written out amount to more than {} parts", limits.aliasNodes));
  }

  void checkDepth(size_t position, size_t depth) {
    if (depth > limits.depth)
      refuse(position, fmt::format("brackets are nested more than {} deep", limits.depth));
  }

  void push(char c) {
    checkDepth(at, open.size() + 1);
    open.push_back(c);
    definition.depth = std::max(definition.depth, open.size());
    ++definition.nodes;
    countToken(at);
    ++at;
  }

  void pop(char c) {
    char opener = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '<';
    auto match = std::find(open.rbegin(), open.rend(), opener);
    // One that closes nothing ends the parse there, so that what it means does not matter.
    if (match != open.rend())
      open.erase(match.base() - 1, open.end());
    if (affineDepth && open.size() < affineDepth)
      affineDepth = 0;
    ++at;
  }
};

} // namespace

Status swage::guardText(std::string_view text, std::string_view file, const TextLimits &limits) {
  return Guard(text, file, limits).run();
}
