// Tickets that the blocks of a launch draw, from memory that holds anything before.
#pragma once

#include "swage/device/atomic.cuh"

namespace swage::detail {

/// In the upper half of a word, that the lower one counts tickets.  What memory held before the
/// kernel began does not say so, and after the last ticket it does not either.
enum : unsigned long long { kCounting = 0x9d7fb1e6ull << 32 };

/// For one thread: the first that comes begins at 0.  Whoever draws begins before; to ask early and
/// look at the answer late hides what it takes, because memory mostly holds what the last launch
/// left.
struct TicketBegin {
  unsigned long long held, found;
};
__device__ __forceinline__ TicketBegin askTickets(unsigned long long *tickets,
                                                  unsigned long long held = 0) {
  return {held, atomicCompareExchange(tickets, held, static_cast<unsigned long long>(kCounting))};
}
__device__ __forceinline__ void beginTickets(unsigned long long *tickets, TicketBegin begin) {
  while (begin.found != begin.held && begin.found >> 32 != kCounting >> 32)
    begin = askTickets(tickets, begin.found);
}
__device__ __forceinline__ unsigned drawTicket(unsigned long long *tickets) {
  return static_cast<unsigned>(atomicAdd(tickets, 1ull));
}
/// What the block wrote before a barrier and the ticket, who draws a later one reads behind it.
__device__ __forceinline__ unsigned drawTicketInOrder(unsigned long long *tickets) {
  return static_cast<unsigned>(addInOrder(tickets, 1ull));
}
/// By who has drawn the last one.
__device__ __forceinline__ void endTickets(unsigned long long *tickets) { *tickets = 0; }

} // namespace swage::detail
