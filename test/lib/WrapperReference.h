//===- WrapperReference.h - What wrappers must compute -----------*- C++ -*-===//
//
// A second definition of each kernel of test/Wrappers, as plain loops over blocks, threads and
// elements: written from the tables of the PTX manual, and sharing no code with the simulator.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_TEST_LIB_WRAPPERREFERENCE_H
#define SWAGE_TEST_LIB_WRAPPERREFERENCE_H

#include "WrapperCase.h"

#include <cstring>
#include <functional>
#include <map>

namespace swage::test {

/// Memory as words and bytes.
class Memory {
public:
  explicit Memory(std::string bytes) : bytes(std::move(bytes)) {}
  Memory(size_t count, uint32_t word) : bytes(4 * count, 0) {
    for (size_t i = 0; i < count; ++i)
      set(i, word);
  }
  uint32_t operator[](size_t word) const { return get<uint32_t>(4 * word); }
  void set(size_t word, uint32_t value) { put(4 * word, value); }
  template <class T> T get(size_t at) const {
    T value;
    std::memcpy(&value, bytes.data() + check(at, sizeof(T)), sizeof(T));
    return value;
  }
  template <class T> void put(size_t at, T value) {
    std::memcpy(&bytes[check(at, sizeof(T))], &value, sizeof(T));
  }
  void copy(size_t to, const Memory &from, size_t at, size_t count) {
    for (size_t i = 0; i < count; ++i)
      put(to + i, from.get<char>(at + i));
  }

  std::string bytes;

private:
  size_t check(size_t at, size_t count) const {
    if (at + count > bytes.size())
      std::abort(); // the reference itself is wrong
    return at;
  }
};

/// Where threads leave their results, as the struct Results of the kernels does.
class Results {
public:
  Results(Memory &out, size_t threads) : out(out), threads(threads), next(threads) {
    for (size_t i = 0; i < threads; ++i)
      next[i] = i;
  }
  template <class T> void add(size_t thread, T value) {
    if constexpr (sizeof(T) < 4) {
      uint32_t word = 0;
      std::memcpy(&word, &value, sizeof(T));
      addWord(thread, word);
    } else {
      for (size_t i = 0; i < sizeof(T); i += 4) {
        uint32_t word;
        std::memcpy(&word, reinterpret_cast<const char *>(&value) + i, 4);
        addWord(thread, word);
      }
    }
  }

private:
  void addWord(size_t thread, uint32_t word) {
    out.set(next[thread], word);
    next[thread] += threads;
  }
  Memory &out;
  size_t threads;
  std::vector<size_t> next;
};

/// 16 words at which `count` threads, whose values begin at word `first`, have done the atomics of
/// atomic_crowd and cluster_atomics.
Memory crowd(const Memory &in, unsigned first, unsigned count);

using Reference = std::function<void(const WrapperCase &test, const Memory &in, Memory &out)>;
using References = std::map<std::string, Reference>;

// One for each group of files.
void addThreadReferences(References &references);
void addMemoryReferences(References &references);
void addClusterReferences(References &references);
void addTensorReferences(References &references);
void addMatrixReferences(References &references);
void addNumberReferences(References &references);
const References &allReferences();

} // namespace swage::test

#endif // SWAGE_TEST_LIB_WRAPPERREFERENCE_H
