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
SWAGE_HOOK void *__tsan_memcpy(void *to, const void *from, unsigned long bytes) {
  swage::simt::abi->access(from, bytes, false, __builtin_return_address(0));
  swage::simt::abi->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memcpy(to, from, bytes);
}
SWAGE_HOOK void *__tsan_memmove(void *to, const void *from, unsigned long bytes) {
  swage::simt::abi->access(from, bytes, false, __builtin_return_address(0));
  swage::simt::abi->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memmove(to, from, bytes);
}
SWAGE_HOOK void *__tsan_memset(void *to, int value, unsigned long bytes) {
  swage::simt::abi->access(to, bytes, true, __builtin_return_address(0));
  return __builtin_memset(to, value, bytes);
}
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
