//===- VariantFields.h - Variants as bytes --------------------------------===//
//
// What bundles and the cache keep of variants: a sequence of fields.  Numbers are little-endian as
// on every host that Swage supports; texts and lists stand behind their length.  Texts that may be
// long and binaries are in tables, each once, and are referred to by position.  One description of
// the fields serves writing and reading.  Any change of the fields changes the version of bundles
// (Bundle.cpp) and of variant entries (VariantEntry.cpp).
//
// What is read may be anything, so the reader takes no length for granted, and the checks look at
// every position before the runtime relies on it.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_RUNTIME_VARIANTFIELDS_H
#define SWAGE_LIB_RUNTIME_VARIANTFIELDS_H

#include "swage/Runtime/Variant.h"

#include <cstring>
#include <map>

namespace swage::fields {

/// Texts and binaries that fields refer to.
struct Tables {
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<const KernelBinary>> binaries;
};

class Writer {
public:
  static constexpr bool kReads = false;

  template <class T> void number(const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void text(const std::string &value) {
    number(uint32_t(value.size()));
    bytes += value;
  }
  void shared(const std::string &value) {
    auto [known, isNew] = textNumbers.try_emplace(value, uint32_t(tables.texts.size()));
    if (isNew)
      tables.texts.push_back(value);
    number(known->second);
  }
  void shared(const std::shared_ptr<const KernelBinary> &binary);
  template <class List, class Each> void list(const List &values, Each each) {
    number(uint32_t(values.size()));
    for (const auto &value : values)
      each(*this, value);
  }

  std::string bytes;
  Tables tables;

private:
  std::map<std::string, uint32_t> textNumbers, binaryNumbers;
};

/// Texts that are referred to are copied for each reference.  Kernels say more of themselves than a
/// reference, so that no bundle that was written comes near to this many bytes.
inline size_t mostCopied(size_t payload) { return (size_t(1) << 26) + 64 * payload; }

/// Whatever is wrong sets `failed`; what is read from then on is empty.
class Reader {
public:
  static constexpr bool kReads = true;

  Reader(std::string_view bytes, const Tables &tables)
      : bytes(bytes), tables(tables), mayCopy(mostCopied(bytes.size())) {}

  template <class T> void number(T &value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    if (bytes.size() < sizeof value)
      return fail();
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
  }
  void text(std::string &value) {
    uint32_t size = 0;
    number(size);
    if (size > bytes.size())
      return fail();
    value = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  void shared(std::string &value) {
    uint32_t index = 0;
    number(index);
    if (failed || index >= tables.texts.size() || tables.texts[index].size() > mayCopy)
      return fail();
    value = tables.texts[index];
    mayCopy -= value.size();
  }
  void shared(std::shared_ptr<const KernelBinary> &binary) {
    uint32_t index = 0; // 0: none
    number(index);
    if (index > tables.binaries.size())
      return fail();
    if (!failed && index > 0)
      binary = tables.binaries[index - 1];
  }
  /// Nothing is allocated ahead: an element that is there has taken bytes of the file.
  template <class List, class Each> void list(List &values, Each each) {
    uint32_t count = 0;
    number(count);
    if (count > bytes.size())
      return fail();
    for (uint32_t i = 0; i < count && !failed; ++i) {
      values.emplace_back();
      each(*this, values.back());
    }
  }
  void fail() {
    failed = true;
    bytes = {};
  }

  bool failed = false;
  std::string_view bytes;

private:
  const Tables &tables;
  size_t mayCopy;
};

// In each of these, `A` is Writer or Reader and the other parameter is constant for a Writer.

template <class A, class T> void resources(A &a, T &used) {
  a.number(used.registers);
  a.number(used.spillStores);
  a.number(used.spillLoads);
  a.number(used.stackFrame);
  a.number(used.sharedBytes);
  a.number(used.barriers);
}

template <class A, class T> void binary(A &a, T &binary) {
  a.text(binary.name);
  a.text(binary.arch);
  a.shared(binary.image);
  a.shared(binary.ptx);
  a.shared(binary.log);
  resources(a, binary.resources);
}

template <class A, class T> void texts(A &a, T &values) {
  a.list(values, [](A &a, auto &value) { a.text(value); });
}

template <class A, class T> void numbers(A &a, T &values) {
  a.list(values, [](A &a, auto &value) { a.number(value); });
}

/// Any byte of a file is a truth value, but no other byte than 0 and 1 is a bool.
template <class A, class T> void flag(A &a, T &value) {
  uint8_t byte = value;
  a.number(byte);
  if constexpr (A::kReads)
    value = byte != 0;
}

template <class A, class T> void pairs(A &a, T &values) {
  a.list(values, [](A &a, auto &pair) {
    a.number(pair.first);
    a.number(pair.second);
  });
}

template <class A, class T> void tensorTypes(A &a, T &types) {
  a.list(types, [](A &a, auto &type) {
    a.text(type.element);
    a.number(type.elementBytes);
    numbers(a, type.shape);
  });
}

template <class A, class T> void expression(A &a, T &expression) {
  a.list(expression.steps, [](A &a, auto &step) {
    a.number(step.op);
    a.number(step.value);
  });
}

template <class A, class T> void expressions(A &a, T &expressions) {
  a.list(expressions, [](A &a, auto &each) { expression(a, each); });
}

template <class A, class T, class Each> void optional(A &a, T &value, Each each) {
  bool isThere = value.has_value();
  flag(a, isThere);
  if constexpr (A::kReads)
    if (isThere)
      value.emplace();
  if (value)
    each(a, *value);
}

template <class A, class T> void views(A &a, T &views) {
  a.list(views, [](A &a, auto &view) {
    a.number(view.tensor);
    a.text(view.element);
    a.number(view.elementBytes);
    a.number(view.alignment);
    expressions(a, view.shape);
    expressions(a, view.strides);
    expression(a, view.offset);
    optional(a, view.tile, [](A &a, auto &tile) {
      numbers(a, tile.dims);
      numbers(a, tile.box);
      a.number(tile.swizzle);
    });
    expressions(a, view.extents);
  });
}

template <class A, class T> void promises(A &a, T &extents) {
  a.list(extents, [](A &a, auto &extent) {
    a.number(extent.multipleOf);
    a.number(extent.atMost);
  });
}

template <class A, class T> void guards(A &a, T &guards) {
  a.text(guards.arch);
  a.number(guards.indexBits);
  numbers(a, guards.alignment);
  promises(a, guards.extents);
}

template <class A, class T> void kernelInfo(A &a, T &kernel) {
  a.text(kernel.name);
  a.text(kernel.family);
  a.text(kernel.schedule);
  texts(a, kernel.ops);
  a.number(kernel.threads);
  a.number(kernel.clusterSize);
  a.number(kernel.dynamicSharedBytes);
  a.number(kernel.scratchBytes);
  flag(a, kernel.overlap);
  a.number(kernel.indexBits);
  a.shared(kernel.source);
  a.text(kernel.overriddenBy);
  a.shared(kernel.binary);
}

template <class A, class T> void symbolicKernel(A &a, T &kernel) {
  expressions(a, kernel.extents);
  // The elements of a vector<bool> cannot be referred to.
  std::vector<uint8_t> isReduced(kernel.isReduced.begin(), kernel.isReduced.end());
  numbers(a, isReduced);
  if constexpr (A::kReads)
    kernel.isReduced.assign(isReduced.begin(), isReduced.end());
  promises(a, kernel.facts);
  expression(a, kernel.blocks);
  expressions(a, kernel.dividers);
  expressions(a, kernel.largestOffsets);
  expression(a, kernel.bytesMoved);
  views(a, kernel.inputs);
  views(a, kernel.outputs);
  pairs(a, kernel.inPlace);
  pairs(a, kernel.kept);
  a.list(kernel.rows, [](A &a, auto &rows) {
    expression(a, rows.first);
    expression(a, rows.second);
  });
  a.number(kernel.elementsPerBlock);
}

template <class A, class T> void places(A &a, T &places) {
  a.list(places, [](A &a, auto &place) {
    a.number(place.kind);
    a.number(place.index);
  });
}

template <class A, class T> void launches(A &a, T &launches) {
  a.list(launches, [](A &a, auto &launch) {
    a.number(launch.kernel);
    a.list(launch.sizes, [](A &a, auto &size) {
      a.number(size.argument);
      a.number(size.dim);
    });
    places(a, launch.inputs);
    places(a, launch.outputs);
  });
}

template <class A, class T> void variant(A &a, T &variant) {
  guards(a, variant.guards);
  a.list(variant.kernels, [](A &a, auto &kernel) { kernelInfo(a, kernel); });
  a.list(variant.symbolic, [](A &a, auto &kernel) { symbolicKernel(a, kernel); });
  launches(a, variant.launches);
  a.number(variant.workspaceValues);
  pairs(a, variant.aliases);
  texts(a, variant.remarks);
  texts(a, variant.storedLocations);
}

/// Which needs an extent has.
template <class A, class T> void needsBits(A &a, T &needs) {
  uint8_t bits = uint8_t(needs.multiple | needs.limit << 1 | needs.count << 2);
  a.number(bits);
  if constexpr (A::kReads) {
    needs.multiple = (bits & 1) != 0;
    needs.limit = (bits & 2) != 0;
    needs.count = (bits & 4) != 0;
  }
}

//===----------------------------------------------------------------------===//
// Checks: why it cannot be what was written, or null
//===----------------------------------------------------------------------===//

const char *checkTypes(const std::vector<TensorType> &types);
/// Of a variant whose signature is checked and filled in.
const char *checkVariant(const Variant &variant, size_t dynamicExtents);

} // namespace swage::fields

#endif // SWAGE_LIB_RUNTIME_VARIANTFIELDS_H
