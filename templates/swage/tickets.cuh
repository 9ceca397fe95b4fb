// Tickets that the blocks of a launch draw, from memory that holds anything before.
#pragma once

#include "swage/device/atomic.cuh"

namespace swage::detail {

/// A word that counts tickets has their number in the lower half, and this plus their number in the
/// upper one.  Of such words a kernel leaves only those that it began and nobody drew from, which
/// begin again as they are; where something else is then written over half of one, the halves
/// disagree.
enum : unsigned { kCounting = 0x9d7fb1e6 };
enum : unsigned long long { kTicket = (1ull << 32) + 1 }; ///< what one more adds
constexpr __device__ __forceinline__ bool isCounting(unsigned long long word) {
  return static_cast<unsigned>(word >> 32) - kCounting == static_cast<unsigned>(word);
}

/// For one thread: the first that comes begins at 0.  Whoever draws begins before; to ask early and
/// look at the answer late hides what it takes, because memory mostly holds what the last launch
/// left.
struct TicketBegin {
  unsigned long long held, found;
};
__device__ __forceinline__ TicketBegin askTickets(unsigned long long *tickets,
                                                  unsigned long long held = 0) {
  return {held,
          atomicCompareExchange(tickets, held, static_cast<unsigned long long>(kCounting) << 32)};
}
__device__ __forceinline__ void beginTickets(unsigned long long *tickets, TicketBegin begin) {
  while (begin.found != begin.held && !isCounting(begin.found))
    begin = askTickets(tickets, begin.found);
}
__device__ __forceinline__ unsigned drawTicket(unsigned long long *tickets) {
  return static_cast<unsigned>(atomicAdd(tickets, kTicket));
}
/// What the block wrote before a barrier and the ticket, who draws a later one reads behind it.
__device__ __forceinline__ unsigned drawTicketInOrder(unsigned long long *tickets) {
  return static_cast<unsigned>(addInOrder(tickets, kTicket));
}
/// By who has drawn the last one.
__device__ __forceinline__ void endTickets(unsigned long long *tickets) { *tickets = 0; }

} // namespace swage::detail
