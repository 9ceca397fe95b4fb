//===- SizeExpr.cpp - Symbolic sizes and linear accesses ------------------===//

#include "swage/Dialect/Swage/IR/SizeExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <map>
#include <numeric>
#include <string>

using namespace mlir;
using namespace swage;

namespace {

/// A product of symbols and opaque factors, ordered so that equal products compare equal. Opaque
/// factors are compared by their text, which is the same in every process.
using Monomial = std::vector<std::pair<std::string, AffineExpr>>;

struct MonomialLess {
  bool operator()(const Monomial &a, const Monomial &b) const {
    if (a.size() != b.size())
      return a.size() > b.size();
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](auto &x, auto &y) { return x.first < y.first; });
  }
};

using Polynomial = std::map<Monomial, int64_t, MonomialLess>;

/// Monomials of a size: a product of sums of many arguments' extents is no size that a kernel
/// takes.
constexpr size_t kMaxMonomials = 64;

std::string textOf(AffineExpr expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  expr.print(os);
  return text;
}

bool addTerm(Polynomial &to, const Monomial &monomial, int64_t factor) {
  int64_t &slot = to[monomial];
  if (llvm::AddOverflow(slot, factor, slot) || to.size() > kMaxMonomials)
    return false;
  if (slot == 0)
    to.erase(monomial);
  return true;
}

std::optional<Polynomial> polynomialOf(AffineExpr expr) {
  Polynomial result;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    if (constant.getValue() != 0)
      result[{}] = constant.getValue();
    return result;
  }
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
    if (binary.getKind() == AffineExprKind::Add || binary.getKind() == AffineExprKind::Mul) {
      std::optional<Polynomial> lhs = polynomialOf(binary.getLHS()),
                                rhs = polynomialOf(binary.getRHS());
      if (!lhs || !rhs)
        return std::nullopt;
      if (binary.getKind() == AffineExprKind::Add) {
        for (auto &[monomial, factor] : *rhs)
          if (!addTerm(*lhs, monomial, factor))
            return std::nullopt;
        return lhs;
      }
      for (auto &[a, fa] : *lhs)
        for (auto &[b, fb] : *rhs) {
          Monomial product = a;
          product.insert(product.end(), b.begin(), b.end());
          llvm::sort(product, [](auto &x, auto &y) { return x.first < y.first; });
          int64_t factor;
          if (llvm::MulOverflow(fa, fb, factor) || !addTerm(result, product, factor))
            return std::nullopt;
        }
      return result;
    }
  }
  result[{{textOf(expr), expr}}] = 1;
  return result;
}

AffineExpr exprOf(const Polynomial &polynomial, MLIRContext *context) {
  AffineExpr sum;
  for (auto &[monomial, factor] : polynomial) {
    AffineExpr term;
    for (auto &[text, symbol] : monomial)
      term = term ? term * symbol : symbol;
    term = !term ? getAffineConstantExpr(factor, context) : factor == 1 ? term : term * factor;
    sum = sum ? sum + term : term;
  }
  return sum ? sum : getAffineConstantExpr(0, context);
}

bool usesDims(AffineExpr expr) {
  bool uses = false;
  expr.walk([&](AffineExpr inner) { uses |= isa<AffineDimExpr>(inner); });
  return uses;
}

} // namespace

AffineExpr swage::normalizeSize(AffineExpr expr) {
  std::optional<Polynomial> polynomial = polynomialOf(expr);
  return polynomial ? exprOf(*polynomial, expr.getContext()) : AffineExpr();
}

/// Sizes are nearly always numbers, for which there is no need of polynomials.
static std::optional<std::pair<int64_t, int64_t>> bothConstant(AffineExpr a, AffineExpr b) {
  auto constantA = dyn_cast<AffineConstantExpr>(a), constantB = dyn_cast<AffineConstantExpr>(b);
  if (!constantA || !constantB)
    return std::nullopt;
  return std::pair(constantA.getValue(), constantB.getValue());
}

AffineExpr swage::multiplySizes(AffineExpr a, AffineExpr b) {
  if (auto numbers = bothConstant(a, b)) {
    int64_t product;
    return llvm::MulOverflow(numbers->first, numbers->second, product)
               ? AffineExpr()
               : getAffineConstantExpr(product, a.getContext());
  }
  // The product is formed on polynomials: AffineExpr's own folding would wrap around.
  std::optional<Polynomial> pa = polynomialOf(a), pb = polynomialOf(b);
  if (!pa || !pb)
    return {};
  Polynomial result;
  for (auto &[ma, fa] : *pa)
    for (auto &[mb, fb] : *pb) {
      Monomial product = ma;
      product.insert(product.end(), mb.begin(), mb.end());
      llvm::sort(product, [](auto &x, auto &y) { return x.first < y.first; });
      int64_t factor;
      if (llvm::MulOverflow(fa, fb, factor) || !addTerm(result, product, factor))
        return {};
    }
  return exprOf(result, a.getContext());
}

AffineExpr swage::addSizes(AffineExpr a, AffineExpr b) {
  if (auto numbers = bothConstant(a, b)) {
    int64_t sum;
    return llvm::AddOverflow(numbers->first, numbers->second, sum)
               ? AffineExpr()
               : getAffineConstantExpr(sum, a.getContext());
  }
  std::optional<Polynomial> pa = polynomialOf(a), pb = polynomialOf(b);
  if (!pa || !pb)
    return {};
  for (auto &[monomial, factor] : *pb)
    if (!addTerm(*pa, monomial, factor))
      return {};
  return exprOf(*pa, a.getContext());
}

AffineExpr swage::divideSizes(AffineExpr a, AffineExpr b) {
  std::optional<Polynomial> pa = polynomialOf(a), pb = polynomialOf(b);
  if (!pa || !pb || pb->size() != 1)
    return {};
  auto &[divisor, by] = *pb->begin();
  Polynomial result;
  for (auto &[monomial, factor] : *pa) {
    bool overflows = by == -1 && factor == std::numeric_limits<int64_t>::min();
    if (overflows || factor % by)
      return {};
    Monomial quotient = monomial;
    for (auto &symbol : divisor) {
      auto it = llvm::find_if(quotient, [&](auto &other) { return other.first == symbol.first; });
      if (it == quotient.end())
        return {};
      quotient.erase(it);
    }
    result[quotient] = factor / by;
  }
  return exprOf(result, a.getContext());
}

std::optional<int64_t> swage::constantSize(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

/// A number that divides the expression for all sizes; 0 where it is 0.
static int64_t knownDivisor(AffineExpr expr, const SizeFacts &facts) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    bool fits = constant.getValue() != std::numeric_limits<int64_t>::min();
    return fits ? std::abs(constant.getValue()) : 1;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return facts.multipleOf(symbol.getPosition());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 1;
  int64_t lhs = knownDivisor(binary.getLHS(), facts), rhs = knownDivisor(binary.getRHS(), facts);
  std::optional<int64_t> divisor = constantSize(binary.getRHS());
  int64_t product;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return std::gcd(lhs, rhs);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(lhs, rhs, product) ? std::max(lhs, rhs) : product;
  case AffineExprKind::Mod:
    return std::gcd(lhs, rhs);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return divisor && *divisor > 0 && lhs % *divisor == 0 ? lhs / *divisor : 1;
  default:
    return 1;
  }
}

bool swage::isMultipleOf(AffineExpr expr, int64_t factor, const SizeFacts &facts) {
  return knownDivisor(expr, facts) % factor == 0;
}

std::optional<int64_t> swage::upperBound(AffineExpr expr, const SizeFacts &facts) {
  // Without negative numbers each operand's bound gives the whole one's.
  if (std::optional<int64_t> constant = constantSize(expr))
    return *constant >= 0 ? constant : std::nullopt;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    int64_t limit = facts.limitOf(symbol.getPosition());
    return limit ? std::optional(limit) : std::nullopt;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = upperBound(binary.getLHS(), facts);
  if (!lhs)
    return std::nullopt;
  std::optional<int64_t> rhs = upperBound(binary.getRHS(), facts),
                         divisor = constantSize(binary.getRHS());
  int64_t result;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return !rhs || llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return !rhs || llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return divisor && *divisor > 0 ? std::optional(*lhs / *divisor) : std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> swage::evaluateSize(AffineExpr expr, ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() >= symbols.size())
      return std::nullopt;
    return symbols[symbol.getPosition()];
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = evaluateSize(binary.getLHS(), symbols),
                         rhs = evaluateSize(binary.getRHS(), symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t result;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*lhs, *rhs, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::FloorDiv:
    return *rhs <= 0 ? std::nullopt : std::optional(llvm::divideFloorSigned(*lhs, *rhs));
  case AffineExprKind::CeilDiv:
    return *rhs <= 0 ? std::nullopt : std::optional(llvm::divideCeilSigned(*lhs, *rhs));
  case AffineExprKind::Mod:
    return *rhs <= 0 ? std::nullopt : std::optional(llvm::mod(*lhs, *rhs));
  default:
    return std::nullopt;
  }
}

std::optional<SmallVector<int64_t>> swage::evaluateSizes(AffineMap map, ArrayRef<int64_t> symbols) {
  SmallVector<int64_t> values;
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> value = evaluateSize(expr, symbols);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

/// Adds `factor * expr` to `access`; false where `expr` is not linear in the coordinates.
static bool accumulate(AffineExpr expr, AffineExpr factor, LinearAccess &access) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    AffineExpr &stride = access.strides[dim.getPosition()];
    return (stride = addSizes(stride, factor)) != AffineExpr();
  }
  if (!usesDims(expr)) {
    AffineExpr term = multiplySizes(expr, factor);
    return term && (access.offset = addSizes(access.offset, term)) != AffineExpr();
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return accumulate(binary.getLHS(), factor, access) &&
           accumulate(binary.getRHS(), factor, access);
  if (binary.getKind() != AffineExprKind::Mul)
    return false;
  AffineExpr scaled = binary.getLHS(), by = binary.getRHS();
  if (usesDims(by))
    std::swap(scaled, by);
  if (usesDims(by))
    return false;
  AffineExpr product = multiplySizes(factor, by);
  return product && accumulate(scaled, product, access);
}

std::optional<LinearAccess> LinearAccess::of(AffineMap map) {
  MLIRContext *context = map.getContext();
  LinearAccess access;
  access.strides.assign(map.getNumDims(), getAffineConstantExpr(0, context));
  access.offset = getAffineConstantExpr(0, context);
  if (map.getNumResults() != 1 ||
      !accumulate(map.getResult(0), getAffineConstantExpr(1, context), access))
    return std::nullopt;
  return access;
}

AffineMap LinearAccess::map(unsigned symbols) const {
  MLIRContext *context = offset.getContext();
  AffineExpr sum;
  for (auto [i, stride] : llvm::enumerate(strides)) {
    if (constantSize(stride) == 0)
      continue;
    AffineExpr term = getAffineDimExpr(i, context) * stride;
    sum = sum ? sum + term : term;
  }
  if (!sum || constantSize(offset) != 0)
    sum = sum ? sum + offset : offset;
  return AffineMap::get(strides.size(), symbols, sum);
}

bool LinearAccess::isConstant() const {
  return llvm::all_of(strides, [](AffineExpr stride) { return constantSize(stride) == 0; });
}

SmallVector<AffineExpr> swage::rowMajorStrides(ArrayRef<AffineExpr> shape, MLIRContext *context) {
  SmallVector<AffineExpr> strides(shape.size());
  AffineExpr stride = getAffineConstantExpr(1, context);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = multiplySizes(stride, shape[i]);
    if (!stride)
      return {};
  }
  return strides;
}
