//===- Fiber.h - Stacks and the switch between them -----------------------===//
//
// A switch saves the callee-saved registers of the x86-64 System V ABI and the stack pointer,
// nothing else: floating-point control words stay as they are.  Other machines use Boost.Context.
//
//===----------------------------------------------------------------------===//
#ifndef SWAGE_LIB_SIMT_FIBER_H
#define SWAGE_LIB_SIMT_FIBER_H

#include <cstddef>
#include <memory>
#include <vector>

namespace swage::simt {

constexpr size_t kStackBytes = 128 << 10;

/// Memory for one stack, below it a page that must not be touched.
class Stack {
public:
  /// Null when the system gives no memory.
  static std::unique_ptr<Stack> create(size_t color);
  ~Stack();

  char *low() const { return base + kGuardBytes; }
  char *top() const { return stackTop; }
  bool contains(const void *address) const {
    return address >= low() && address < base + kGuardBytes + kStackBytes;
  }
  bool guards(const void *address) const { return isGuarded && address >= base && address < low(); }

private:
  static constexpr size_t kGuardBytes = 4096;
  char *base = nullptr, *stackTop = nullptr;
  bool isGuarded = false;
};

/// Stacks of finished launches, for the next ones: making one costs about 10 us.
class StackPool {
public:
  static std::vector<std::unique_ptr<Stack>> take();
  static void giveBack(std::vector<std::unique_ptr<Stack>> stacks);
};

/// A suspended context.
struct Fiber {
  void *context = nullptr; ///< null: not started
  Stack *stack = nullptr;
};

/// A context that begins in `entry` (which never returns) when it is first switched to.
void *makeContext(Stack &stack, void (*entry)());
/// Saves this context in *from and goes on in `to`.
void switchContext(void **from, void *to);

} // namespace swage::simt

#endif // SWAGE_LIB_SIMT_FIBER_H
