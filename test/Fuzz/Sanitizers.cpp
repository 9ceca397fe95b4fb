//===- Sanitizers.cpp - Beside an LLVM without sanitizers -----------------===//
//
// LLVM's allocators poison what they have not handed out when our copy of their inline code is
// instrumented, and the copies inside of LLVM's libraries, which are not, never say that it is in
// use again.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_odr_violation=0";
}
