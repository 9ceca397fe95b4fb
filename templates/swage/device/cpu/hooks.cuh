// The calls that -fsanitize=thread and -fsanitize=undefined put into a checked kernel, answered by
// the simulator's checker instead of the sanitizers' own libraries.  Their names and arguments are
// those of compiler-rt (tsan_interface.h, ubsan_handlers.h), which g++ and clang++ share.
#pragma once

#include "swage/device/cpu/module.cuh"

#define SWAGE_HOOK                                                                                 \
  extern "C" __attribute__((visibility("hidden"), used, noinline, no_sanitize("thread", "undefined")))

#define SWAGE_ACCESS_HOOK(NAME, BYTES, WRITE)                                                      \
  SWAGE_HOOK void __tsan_##NAME##BYTES(void *at) {                                                 \
    swage::simt::abi->access(at, BYTES, WRITE, __builtin_return_address(0));                       \
  }
#define SWAGE_ACCESS_HOOKS(BYTES)                                                                  \
  SWAGE_ACCESS_HOOK(read, BYTES, false)                                                            \
  SWAGE_ACCESS_HOOK(write, BYTES, true)                                                            \
  SWAGE_ACCESS_HOOK(unaligned_read, BYTES, false)                                                  \
  SWAGE_ACCESS_HOOK(unaligned_write, BYTES, true)                                                  \
  SWAGE_ACCESS_HOOK(volatile_read, BYTES, false)                                                   \
  SWAGE_ACCESS_HOOK(volatile_write, BYTES, true)                                                   \
  SWAGE_ACCESS_HOOK(unaligned_volatile_read, BYTES, false)                                         \
  SWAGE_ACCESS_HOOK(unaligned_volatile_write, BYTES, true)
SWAGE_ACCESS_HOOKS(1)
SWAGE_ACCESS_HOOKS(2)
SWAGE_ACCESS_HOOKS(4)
SWAGE_ACCESS_HOOKS(8)
SWAGE_ACCESS_HOOKS(16)
#undef SWAGE_ACCESS_HOOKS
#undef SWAGE_ACCESS_HOOK

SWAGE_HOOK void __tsan_read_range(void *at, unsigned long bytes) {
  swage::simt::abi->access(at, bytes, false, __builtin_return_address(0));
}
SWAGE_HOOK void __tsan_write_range(void *at, unsigned long bytes) {
  swage::simt::abi->access(at, bytes, true, __builtin_return_address(0));
}

// Copies that are calls: g++, and clang++ before 15, leave them to the C library.  The loops are of
// volatile bytes, or the compilers would make calls of them again.
namespace swage::simt {
__forceinline__ void *copyBytes(void *to, const void *from, unsigned long bytes, const void *code) {
  abi->access(from, bytes, false, code);
  abi->access(to, bytes, true, code);
  auto *target = static_cast<volatile char *>(to);
  auto *source = static_cast<const volatile char *>(from);
  const bool isUpward = to <= from;
  for (unsigned long i = 0; i < bytes; ++i) {
    const unsigned long at = isUpward ? i : bytes - 1 - i;
    target[at] = source[at];
  }
  return to;
}
__forceinline__ void *fillBytes(void *to, int value, unsigned long bytes, const void *code) {
  abi->access(to, bytes, true, code);
  auto *target = static_cast<volatile char *>(to);
  for (unsigned long i = 0; i < bytes; ++i)
    target[i] = static_cast<char>(value);
  return to;
}
} // namespace swage::simt

#define SWAGE_COPY_HOOK(NAME)                                                                      \
  SWAGE_HOOK void *NAME(void *to, const void *from, unsigned long bytes) {                         \
    return swage::simt::copyBytes(to, from, bytes, __builtin_return_address(0));                   \
  }
#define SWAGE_FILL_HOOK(NAME)                                                                      \
  SWAGE_HOOK void *NAME(void *to, int value, unsigned long bytes) {                                \
    return swage::simt::fillBytes(to, value, bytes, __builtin_return_address(0));                  \
  }
// g++ exports its own idea of these whatever their visibility; the C library's would be taken.
asm(".hidden memcpy\n.hidden memmove\n.hidden memset");
SWAGE_COPY_HOOK(memcpy)
SWAGE_COPY_HOOK(memmove)
SWAGE_FILL_HOOK(memset)
SWAGE_COPY_HOOK(__tsan_memcpy)
SWAGE_COPY_HOOK(__tsan_memmove)
SWAGE_FILL_HOOK(__tsan_memset)
#undef SWAGE_COPY_HOOK
#undef SWAGE_FILL_HOOK

SWAGE_HOOK void __tsan_init() {}
SWAGE_HOOK void __tsan_func_entry(void *) {}
SWAGE_HOOK void __tsan_func_exit() {}

namespace swage::simt {
/// compiler-rt's TypeMismatchData.
struct TypeMismatch {
  struct {
    const char *file;
    unsigned line, column;
  } place;
  const void *type;
  unsigned char alignmentLog2, kind;
};
} // namespace swage::simt

SWAGE_HOOK void __ubsan_handle_type_mismatch_v1(void *data, void *at) {
  const auto *mismatch = static_cast<const swage::simt::TypeMismatch *>(data);
  const unsigned long alignment = 1ul << mismatch->alignmentLog2;
  const void *code = __builtin_return_address(0);
  if (reinterpret_cast<unsigned long>(at) & (alignment - 1))
    swage::simt::abi->misaligned(at, static_cast<unsigned>(alignment), mismatch->kind == 1, code);
  else
    swage::simt::abi->undefined(at ? "access beyond the end of an object" : "access at a null pointer",
                                code);
}

#define SWAGE_UNDEFINED_HOOK(NAME, WHAT)                                                           \
  SWAGE_HOOK void __ubsan_handle_##NAME(void *, void *, void *) {                                  \
    swage::simt::abi->undefined(WHAT, __builtin_return_address(0));                                \
  }
SWAGE_UNDEFINED_HOOK(add_overflow, "integer overflow in an addition")
SWAGE_UNDEFINED_HOOK(sub_overflow, "integer overflow in a subtraction")
SWAGE_UNDEFINED_HOOK(mul_overflow, "integer overflow in a multiplication")
SWAGE_UNDEFINED_HOOK(negate_overflow, "integer overflow in a negation")
SWAGE_UNDEFINED_HOOK(divrem_overflow, "integer division by zero, or its overflow")
SWAGE_UNDEFINED_HOOK(shift_out_of_bounds, "shift by a negative or too large amount")
SWAGE_UNDEFINED_HOOK(out_of_bounds, "array index out of bounds")
SWAGE_UNDEFINED_HOOK(float_cast_overflow, "a floating-point number that does not fit the integer it is converted to")
SWAGE_UNDEFINED_HOOK(builtin_unreachable, "a place that was declared unreachable")
SWAGE_UNDEFINED_HOOK(missing_return, "a function without its return value")
#undef SWAGE_UNDEFINED_HOOK
#undef SWAGE_HOOK
