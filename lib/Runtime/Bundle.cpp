//===- Bundle.cpp - Compiled programs as files ----------------------------===//
//
// A bundle is a header of fixed size, a payload, and a checksum of all that.  The payload is a
// sequence of fields: numbers, little-endian as on every host that Swage supports; texts and lists
// behind their length.  Texts that may be long and binaries are in tables, each once, and are
// referred to by position.  One description of the fields serves writing and reading.
//
// The checksum tells damage.  What passes it may still be anything, so the reader takes no length
// for granted and checks every position before the runtime relies on it.  Any change of the fields
// changes kVersion.
//
//===----------------------------------------------------------------------===//
#include "swage/Runtime/Bundle.h"
#include "swage/Support/Hash.h"
#include "swage/Support/Text.h"

#include <cstring>
#include <fmt/format.h>
#include <map>

using namespace swage;

static constexpr char kMagic[] = {'S', 'W', 'A', 'G', 'E', 'B', 'N', 'D'};
static constexpr uint32_t kVersion = 2;

namespace {
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t payloadBytes;
};
static_assert(sizeof(Header) == 24, "the file format has no padding");

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

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
static size_t mostCopied(size_t payload) { return (size_t(1) << 26) + 64 * payload; }

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
} // namespace

// In each of these, `A` is Writer or Reader and the other parameter is constant for a Writer.

template <class A, class T> static void resources(A &a, T &used) {
  a.number(used.registers);
  a.number(used.spillStores);
  a.number(used.spillLoads);
  a.number(used.stackFrame);
  a.number(used.sharedBytes);
  a.number(used.barriers);
}

template <class A, class T> static void binary(A &a, T &binary) {
  a.text(binary.name);
  a.text(binary.arch);
  a.shared(binary.image);
  a.shared(binary.ptx);
  a.shared(binary.log);
  resources(a, binary.resources);
}

template <class A, class T> static void texts(A &a, T &values) {
  a.list(values, [](A &a, auto &value) { a.text(value); });
}

template <class A, class T> static void numbers(A &a, T &values) {
  a.list(values, [](A &a, auto &value) { a.number(value); });
}

template <class A, class T> static void pairs(A &a, T &values) {
  a.list(values, [](A &a, auto &pair) {
    a.number(pair.first);
    a.number(pair.second);
  });
}

template <class A, class T> static void tensorTypes(A &a, T &types) {
  a.list(types, [](A &a, auto &type) {
    a.text(type.element);
    a.number(type.elementBytes);
    numbers(a, type.shape);
  });
}

template <class A, class T> static void expression(A &a, T &expression) {
  a.list(expression.steps, [](A &a, auto &step) {
    a.number(step.op);
    a.number(step.value);
  });
}

template <class A, class T> static void expressions(A &a, T &expressions) {
  a.list(expressions, [](A &a, auto &each) { expression(a, each); });
}

template <class A, class T> static void views(A &a, T &views) {
  a.list(views, [](A &a, auto &view) {
    a.number(view.tensor);
    a.text(view.element);
    a.number(view.elementBytes);
    a.number(view.alignment);
    expressions(a, view.shape);
    expressions(a, view.strides);
    expression(a, view.offset);
  });
}

template <class A, class T> static void promises(A &a, T &extents) {
  a.list(extents, [](A &a, auto &extent) {
    a.number(extent.multipleOf);
    a.number(extent.atMost);
  });
}

template <class A, class T> static void guards(A &a, T &guards) {
  a.text(guards.arch);
  a.number(guards.indexBits);
  numbers(a, guards.alignment);
  promises(a, guards.extents);
}

template <class A, class T> static void kernelInfo(A &a, T &kernel) {
  a.text(kernel.name);
  a.text(kernel.family);
  a.text(kernel.schedule);
  texts(a, kernel.ops);
  a.number(kernel.threads);
  a.number(kernel.indexBits);
  a.shared(kernel.source);
  a.text(kernel.overriddenBy);
  a.shared(kernel.binary);
}

template <class A, class T> static void symbolicKernel(A &a, T &kernel) {
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
  a.number(kernel.elementsPerBlock);
}

template <class A, class T> static void places(A &a, T &places) {
  a.list(places, [](A &a, auto &place) {
    a.number(place.kind);
    a.number(place.index);
  });
}

template <class A, class T> static void launches(A &a, T &launches) {
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

template <class A, class T> static void variant(A &a, T &variant) {
  guards(a, variant.guards);
  a.list(variant.kernels, [](A &a, auto &kernel) { kernelInfo(a, kernel); });
  a.list(variant.symbolic, [](A &a, auto &kernel) { symbolicKernel(a, kernel); });
  launches(a, variant.launches);
  a.number(variant.workspaceValues);
  pairs(a, variant.aliases);
  texts(a, variant.remarks);
  texts(a, variant.storedLocations);
}

/// All but the variants.
template <class A, class T> static void signature(A &a, T &bundle) {
  a.text(bundle.entryName);
  tensorTypes(a, bundle.inputs);
  tensorTypes(a, bundle.results);
  a.list(bundle.needs, [](A &a, auto &needs) {
    uint8_t bits = uint8_t(needs.multiple | needs.limit << 1);
    a.number(bits);
    if constexpr (A::kReads)
      needs = {(bits & 1) != 0, (bits & 2) != 0, {}};
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void Writer::shared(const std::shared_ptr<const KernelBinary> &shared) {
  if (!shared)
    return number(uint32_t(0));
  // By its fields, so that equal kernels of several variants are one.
  std::string before = std::move(bytes);
  bytes.clear();
  binary(*this, *shared);
  auto [known, isNew] = binaryNumbers.try_emplace(std::move(bytes), tables.binaries.size() + 1);
  if (isNew)
    tables.binaries.push_back(shared);
  bytes = std::move(before);
  number(known->second);
}

std::string Bundle::serialize() const {
  Writer fields;
  signature(fields, *this);
  fields.list(variants, [](Writer &a, auto &each) { variant(a, *each); });
  // What these refer to is known only now and comes first; the binaries refer to texts in turn.
  std::string rest = std::move(fields.bytes);
  fields.bytes.clear();
  fields.list(fields.tables.binaries, [](Writer &a, auto &each) { binary(a, *each); });
  Writer tables;
  texts(tables, fields.tables.texts);

  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.headerBytes = sizeof header;
  header.payloadBytes = tables.bytes.size() + fields.bytes.size() + rest.size();
  Writer file;
  file.bytes.reserve(sizeof header + header.payloadBytes + sizeof(Hash128));
  file.bytes.append(reinterpret_cast<const char *>(&header), sizeof header);
  file.bytes += tables.bytes;
  file.bytes += fields.bytes;
  file.bytes += rest;
  Hash128 checksum = hashBytes(file.bytes);
  file.number(checksum.high);
  file.number(checksum.low);
  return std::move(file.bytes);
}

Status Bundle::write(const std::string &path) const { return writeFile(path, serialize()); }

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isAlignment(uint64_t bytes) {
  return bytes > 0 && bytes <= 1 << 20 && (bytes & (bytes - 1)) == 0;
}

static const char *checkTypes(const std::vector<TensorType> &types) {
  for (const TensorType &type : types) {
    std::optional<ElementType> element = elementNamed(type.element);
    if (!element || elementBytes(*element) != type.elementBytes)
      return "an element type is unknown";
    for (int64_t extent : type.shape)
      if (extent < 0 && extent != TensorType::kDynamic)
        return "an extent is negative";
  }
  return nullptr;
}

static bool areMet(const std::vector<Guards::Extent> &promises) {
  for (const Guards::Extent &extent : promises)
    if (extent.multipleOf < 1 || extent.atMost < 0)
      return false;
  return true;
}

static const char *checkGuards(const Guards &guards, size_t tensors, size_t extents) {
  if ((guards.indexBits != 32 && guards.indexBits != 64) || guards.alignment.size() != tensors ||
      guards.extents.size() != extents)
    return "guards are of another program";
  for (uint8_t bytes : guards.alignment)
    if (!isAlignment(bytes))
      return "an alignment is no power of two";
  return areMet(guards.extents) ? nullptr : "a guard on an extent holds for none";
}

static const char *checkKernel(const KernelInfo &info, const SymbolicKernel &kernel,
                               const std::string &arch) {
  if (info.threads < 1 || info.threads > 1024 || (info.indexBits != 32 && info.indexBits != 64))
    return "a kernel has no such launch";
  if (info.binary && (info.binary->arch != arch || info.binary->name != info.name))
    return "machine code is of another kernel";
  if (kernel.isReduced.size() != kernel.extents.size())
    return "an iteration space has two ranks";
  if (!areMet(kernel.facts))
    return "what a kernel relies on holds for no size";
  for (auto *views : {&kernel.inputs, &kernel.outputs})
    for (const SymbolicView &view : *views)
      if (view.strides.size() != kernel.extents.size() || !isAlignment(view.alignment) ||
          view.elementBytes < 1 || view.elementBytes > 8)
        return "an access does not fit its kernel";
  if (kernel.elementsPerBlock < 1)
    return "a block takes no elements";
  return nullptr;
}

/// Every position that a layout looks up, and that values are written before they are read.
static const char *checkLaunches(const Variant &variant) {
  std::vector<bool> written(variant.results.size()), stored;
  auto isWritten = [&](SymbolicLaunch::Place place) {
    switch (place.kind) {
    case BufferKind::Input:
      return place.index < variant.inputs.size();
    case BufferKind::Output:
      return place.index < written.size() && written[place.index];
    case BufferKind::Workspace:
      return place.index < stored.size() && stored[place.index];
    }
    return false;
  };
  // Writes a place that is not written yet.
  auto write = [&](SymbolicLaunch::Place place) {
    if (place.kind == BufferKind::Workspace && place.index == stored.size())
      stored.push_back(false);
    bool isOutput = place.kind == BufferKind::Output;
    std::vector<bool> &all = isOutput ? written : stored;
    if ((!isOutput && place.kind != BufferKind::Workspace) || place.index >= all.size() ||
        all[place.index])
      return false;
    all[place.index] = true;
    return true;
  };
  for (const SymbolicLaunch &launch : variant.launches) {
    if (launch.kernel >= variant.kernels.size())
      return "a launch has no kernel";
    for (SymbolicLaunch::Size size : launch.sizes)
      if (size.argument >= variant.inputs.size() ||
          size.dim >= variant.inputs[size.argument].shape.size())
        return "a runtime size is of no input";
    for (SymbolicLaunch::Place place : launch.inputs)
      if (!isWritten(place))
        return "a launch reads what is not written";
    for (SymbolicLaunch::Place place : launch.outputs)
      if (!write(place))
        return "a launch writes what it must not";
    const SymbolicKernel &kernel = variant.symbolic[launch.kernel];
    for (const SymbolicView &view : kernel.inputs)
      if (view.tensor >= launch.inputs.size())
        return "a kernel has more inputs than its launch";
    for (const SymbolicView &view : kernel.outputs)
      if (view.tensor >= launch.outputs.size())
        return "a kernel has more outputs than its launch";
      else if (SymbolicLaunch::Place to = launch.outputs[view.tensor];
               to.kind == BufferKind::Output &&
               (view.shape.size() != variant.results[to.index].shape.size() ||
                view.elementBytes != variant.results[to.index].elementBytes))
        return "a launch writes another type than the result has";
    for (auto [output, input] : kernel.inPlace)
      if (output >= launch.outputs.size() || input >= launch.inputs.size())
        return "a kernel works in place on what its launch does not have";
  }
  for (auto [result, input] : variant.aliases)
    if (result >= variant.results.size() || input >= variant.inputs.size())
      return "memory is shared with what is not there";
  if (stored.size() != variant.workspaceValues)
    return "the number of intermediate tensors is another";
  for (bool each : written)
    if (!each)
      return "a result is not written";
  return nullptr;
}

static const char *checkVariant(const Variant &variant, size_t dynamicExtents) {
  if (const char *problem = checkGuards(
          variant.guards, variant.inputs.size() + variant.results.size(), dynamicExtents))
    return problem;
  if (variant.symbolic.size() != variant.kernels.size())
    return "a kernel is described twice or not at all";
  for (size_t i = 0; i < variant.kernels.size(); ++i)
    if (const char *problem =
            checkKernel(variant.kernels[i], variant.symbolic[i], variant.guards.arch))
      return problem;
  return checkLaunches(variant);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error badBundle(std::string message) {
  return makeError(Stage::Load, "the bundle " + std::move(message));
}

/// What lies between header and checksum.
static Expected<std::string_view> payloadOf(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header + sizeof(Hash128))
    return badBundle(fmt::format("has {} bytes, too few for a header", bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return badBundle("does not start like one");
  if (header.version != kVersion || header.headerBytes != sizeof header)
    return badBundle(
        fmt::format("has format version {}; needed: {}; save it again", header.version, kVersion));
  std::string_view covered = bytes.substr(0, bytes.size() - sizeof(Hash128));
  if (header.payloadBytes != covered.size() - sizeof header)
    return badBundle(fmt::format("is damaged: it has {} bytes; needed: {}", bytes.size(),
                                 header.payloadBytes + sizeof header + sizeof(Hash128)));
  Hash128 stored, actual = hashBytes(covered);
  std::memcpy(&stored.high, covered.data() + covered.size(), sizeof stored.high);
  std::memcpy(&stored.low, covered.data() + covered.size() + sizeof stored.high, sizeof stored.low);
  if (stored != actual)
    return badBundle(fmt::format("is damaged: its checksum is {}, its bytes have {}", stored.hex(),
                                 actual.hex()));
  return covered.substr(sizeof header);
}

Expected<Bundle> Bundle::parse(std::string_view bytes) {
  auto payload = payloadOf(bytes);
  if (!payload)
    return payload.takeError();
  Tables tables;
  Reader reader(*payload, tables);
  texts(reader, tables.texts);
  reader.list(tables.binaries, [](Reader &a, auto &each) {
    auto fresh = std::make_shared<KernelBinary>();
    binary(a, *fresh);
    each = std::move(fresh);
  });
  Bundle bundle;
  signature(reader, bundle);
  std::vector<std::shared_ptr<Variant>> variants;
  reader.list(variants, [&](Reader &a, auto &each) {
    each = std::make_shared<Variant>();
    variant(a, *each);
    each->entryName = bundle.entryName;
    each->inputs = bundle.inputs;
    each->results = bundle.results;
  });
  if (reader.failed || !reader.bytes.empty())
    return badBundle("is damaged: its fields do not end where it ends");

  const char *problem = checkTypes(bundle.inputs);
  if (!problem)
    problem = checkTypes(bundle.results);
  size_t dynamic = dynamicExtents(bundle.inputs).size();
  if (!problem && bundle.needs.size() != dynamic)
    problem = "guards are of another program";
  for (size_t i = 0; i < variants.size() && !problem; ++i)
    problem = checkVariant(*variants[i], dynamic);
  if (problem)
    return badBundle(fmt::format("is damaged: {}", problem));
  bundle.variants.assign(variants.begin(), variants.end());
  return bundle;
}

Expected<Bundle> Bundle::read(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return makeError(Stage::Load, bytes.error().message);
  auto bundle = parse(*bytes);
  if (!bundle) {
    Error error = bundle.takeError();
    error.message = fmt::format("'{}': {}", printable(path), error.message);
    return error;
  }
  return bundle;
}
