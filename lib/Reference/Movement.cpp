//===- Movement.cpp - Ops that move elements and never change them --------===//

#include "Ops.h"
#include "swage/Reference/Parallel.h"
#include <algorithm>

namespace swage::reference {

Value elementwise(const Scalar &scalar, llvm::ArrayRef<Value> operands, ElementType type,
                  llvm::ArrayRef<int64_t> shape) {
  auto at = [&](int64_t i, Number *numbers) {
    for (size_t k = 0; k < operands.size(); ++k)
      numbers[k] = operands[k].load(i);
    return scalar(numbers);
  };
  llvm::SmallVector<Number, 4> numbers(operands.size());
  if (llvm::all_of(operands, [](const Value &x) { return x.isSplat(); }))
    return Value::splat(type, shape, at(0, numbers.data()));

  Value result(type, shape);
  if (!result.isAllocated())
    return result;
  parallelFor(result.size(), kElementChunk, [&](int64_t begin, int64_t end) {
    llvm::SmallVector<Number, 4> numbers(operands.size());
    for (int64_t i = begin; i < end; ++i)
      result.store(i, at(i, numbers.data()));
  });
  for (const Value &x : operands)
    result.samples = std::min(result.samples, x.samples);
  result.simplify();
  return result;
}

Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int64_t k = static_cast<int64_t>(shape.size()) - 2; k >= 0; --k)
    strides[k] = strides[k + 1] * shape[k + 1];
  return strides;
}

Value gather(const Value &x, llvm::ArrayRef<int64_t> shape, int64_t offset,
             llvm::ArrayRef<int64_t> strides) {
  if (x.isSplat())
    return x.reshaped(shape);
  Value result(x.type(), shape, x.isExact());
  if (!result.isAllocated() || result.size() == 0)
    return result;
  int64_t length = shape.empty() ? 1 : shape.back();
  int64_t step = shape.empty() ? 0 : strides.back();
  parallelFor(result.size() / length, rowChunk(length), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t from = offset, rest = row;
      for (int64_t k = static_cast<int64_t>(shape.size()) - 2; k >= 0; --k) {
        from += rest % shape[k] * strides[k];
        rest /= shape[k];
      }
      for (int64_t i = 0; i < length; ++i)
        result.store(row * length + i, x.load(from + i * step));
    }
  });
  result.samples = x.samples;
  return result;
}

Value permute(const Value &x, llvm::ArrayRef<int64_t> permutation) {
  Shape strides = rowMajorStrides(x.shape()), shape, permuted;
  for (int64_t dim : permutation) {
    shape.push_back(x.shape()[dim]);
    permuted.push_back(strides[dim]);
  }
  return gather(x, shape, 0, permuted);
}

Value concat(llvm::ArrayRef<Value> parts, int64_t axis, llvm::ArrayRef<int64_t> shape) {
  bool exact = llvm::all_of(parts, [](const Value &part) { return part.isExact(); });
  Value result(parts.front().type(), shape, exact);
  if (!result.isAllocated() || result.size() == 0)
    return result;
  // In row-major order a part is runs of `run` elements, and one run of each part follows another.
  int64_t outer = 1;
  for (int64_t extent : shape.take_front(axis))
    outer *= extent;
  int64_t position = 0;
  for (const Value &part : parts) {
    int64_t run = part.size() / outer, total = result.size() / outer;
    parallelFor(part.size(), kElementChunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        result.store(i / run * total + position + i % run, part.load(i));
    });
    position += run;
    result.samples = std::min(result.samples, part.samples);
  }
  return result;
}

Value pages(const Value &pool, const Value &table, llvm::ArrayRef<int64_t> shape) {
  Value result(pool.type(), shape, pool.isExact());
  if (!result.isAllocated() || result.size() == 0)
    return result;
  int64_t count = pool.shape().front(), pageSize = pool.shape().end()[-2], dim = shape.back(),
          positions = shape.end()[-2], ofSequence = positions / pageSize, heads = 1;
  for (int64_t extent : pool.shape().drop_front().drop_back(2))
    heads *= extent;
  parallelFor(result.size() / dim, rowChunk(dim), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t position = row % positions, head = row / positions % heads,
              sequence = row / positions / heads,
              page = table.load(sequence * ofSequence + position / pageSize).integer;
      bool exists = page >= 0 && page < count;
      int64_t from = ((page * heads + head) * pageSize + position % pageSize) * dim;
      for (int64_t d = 0; d < dim; ++d)
        result.store(row * dim + d, exists ? pool.load(from + d) : Number());
    }
  });
  result.samples = pool.samples;
  return result;
}

Value append(const Value &cache, const Value &rows, const Value &positions, int64_t axis,
             bool circular) {
  Value result(cache.type(), cache.shape(), cache.isExact() && rows.isExact());
  if (!result.isAllocated() || result.size() == 0)
    return result;
  // In row-major order [outer, rows, inner].
  int64_t length = cache.shape()[axis], count = rows.shape()[axis],
          outer = elementCount(cache.shape().take_front(axis)),
          inner = result.size() / outer / length,
          ofSequence = positions.size() == 1 ? outer : outer / positions.size();
  parallelFor(outer, rowChunk(length * inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = i * length * inner; j < (i + 1) * length * inner; ++j)
        result.store(j, cache.load(j));
      auto position = static_cast<uint32_t>(positions.load(i / ofSequence).integer);
      for (int64_t s = 0; s < count; ++s) {
        int64_t row = static_cast<int32_t>(position + static_cast<uint32_t>(s));
        if (circular)
          row = (row % length + length) % length;
        for (int64_t k = 0; k < inner && row >= 0 && row < length; ++k)
          result.store((i * length + row) * inner + k, rows.load((i * count + s) * inner + k));
      }
    }
  });
  result.samples = std::min(cache.samples, rows.samples);
  return result;
}

Value appendPaged(const Value &pool, const Value &rows, const Value &places, int64_t axis) {
  Value result(pool.type(), pool.shape(), pool.isExact() && rows.isExact());
  if (!result.isAllocated())
    return result;
  for (int64_t i = 0; i < result.size(); ++i)
    result.store(i, pool.load(i));
  // In row-major order [pages, outer, positions, inner], and of rows [sequences, outer, count,
  // inner].
  int64_t pages = pool.shape().front(), ofPage = pool.shape()[axis], count = rows.shape()[axis],
          outer = elementCount(pool.shape().slice(1, axis - 1)),
          inner = elementCount(pool.shape().drop_front(axis + 1));
  for (int64_t row = 0; row < places.size(); ++row) {
    int64_t place = places.load(row).integer;
    if (place < 0 || place >= pages * ofPage)
      continue;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k)
        result.store(((place / ofPage * outer + o) * ofPage + place % ofPage) * inner + k,
                     rows.load(((row / count * outer + o) * count + row % count) * inner + k));
  }
  result.samples = std::min(pool.samples, rows.samples);
  return result;
}

} // namespace swage::reference
