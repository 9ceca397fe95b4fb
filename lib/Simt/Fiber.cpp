//===- Fiber.cpp - Stacks and the switch between them ---------------------===//

#include "Fiber.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <utility>

#if !defined(SWAGE_SIMT_BOOST_CONTEXT) && !defined(__x86_64__)
#define SWAGE_SIMT_BOOST_CONTEXT 1
#endif
#ifdef SWAGE_SIMT_BOOST_CONTEXT
#include <boost/context/detail/fcontext.hpp>
#endif

using namespace swage::simt;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

/// A guard splits its mapping in two, and a process has 65530 (vm.max_map_count). Blocks that wait
/// for each other have more threads than that, of which the last go without.
static constexpr int kMaxGuards = 16 << 10;
static std::atomic<int> guardsInUse{0};

std::unique_ptr<Stack> Stack::create(size_t color) {
  void *memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto stack = std::make_unique<Stack>();
  stack->base = static_cast<char *>(memory);
  stack->isGuarded =
      ++guardsInUse <= kMaxGuards && mprotect(stack->base, kGuardBytes, PROT_NONE) == 0;
  if (!stack->isGuarded)
    --guardsInUse;
  // Tops at the same place in their pages would all fall into the same cache sets.
  stack->stackTop = stack->base + kGuardBytes + kStackBytes - color * 832 % 4096 / 64 * 64;
  return stack;
}

Stack::~Stack() {
  if (isGuarded)
    --guardsInUse;
  if (base)
    munmap(base, kGuardBytes + kStackBytes);
}

namespace {
struct Pool {
  std::mutex mutex;
  std::vector<std::vector<std::unique_ptr<Stack>>> sets;
};
} // namespace

/// Never destroyed: a launch may run while the process exits.
static Pool &pool() {
  static Pool &pool = *new Pool;
  return pool;
}

/// The threads of the largest cluster.
static constexpr size_t kMostKept = 16 << 10;

std::vector<std::unique_ptr<Stack>> StackPool::take() {
  std::lock_guard<std::mutex> lock(pool().mutex);
  if (pool().sets.empty())
    return {};
  auto set = std::move(pool().sets.back());
  pool().sets.pop_back();
  return set;
}

void StackPool::giveBack(std::vector<std::unique_ptr<Stack>> stacks) {
  // Those of clusters that waited for each other are many, and few launches need them again.
  if (stacks.size() > kMostKept)
    stacks.resize(kMostKept);
  std::lock_guard<std::mutex> lock(pool().mutex);
  pool().sets.push_back(std::move(stacks));
}

//===----------------------------------------------------------------------===//
// The switch
//===----------------------------------------------------------------------===//

#ifdef SWAGE_SIMT_BOOST_CONTEXT

using namespace boost::context::detail;

static thread_local void (*entryOfNew)();

static void begin(transfer_t from) {
  *static_cast<void **>(from.data) = from.fctx;
  entryOfNew();
}

void *swage::simt::makeContext(Stack &stack, void (*entry)()) {
  entryOfNew = entry; // the same for all fibers of the process
  return make_fcontext(stack.top(), size_t(stack.top() - stack.low()), begin);
}

void swage::simt::switchContext(void **from, void *to) {
  transfer_t back = jump_fcontext(to, from);
  *static_cast<void **>(back.data) = back.fctx;
}

#else

extern "C" void swageSimtSwitch(void **from, void *to);
asm(R"(
.text
.globl swageSimtSwitch
.hidden swageSimtSwitch
.type swageSimtSwitch, @function
swageSimtSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size swageSimtSwitch, .-swageSimtSwitch
)");

void *swage::simt::makeContext(Stack &stack, void (*entry)()) {
  auto *top = reinterpret_cast<void **>(reinterpret_cast<uintptr_t>(stack.top()) & ~uintptr_t{15});
  *--top = nullptr; // the return address of `entry`: a function begins with the stack off by 8
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i)
    *--top = nullptr;
  return top;
}

void swage::simt::switchContext(void **from, void *to) { swageSimtSwitch(from, to); }

#endif
