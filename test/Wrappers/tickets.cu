// Tickets from words that hold anything: what kernels have left, and what has then been written
// over half of that, is no count.
//
// arch: sm_80
#include "swage/tickets.cuh"

namespace {
using namespace swage::detail;
constexpr unsigned long long kBegun = static_cast<unsigned long long>(kCounting) << 32;
static_assert(isCounting(kBegun) && isCounting(kBegun + kTicket) &&
              isCounting(kBegun + 3 * kTicket));
static_assert(!isCounting(0) && !isCounting(~0ull) && !isCounting(kBegun + 3));
static_assert(!isCounting(kBegun + (3ull << 32)) && !isCounting((3ull << 32) + 3));

constexpr unsigned long long kHeld[] = {0, kBegun, kBegun + 3, 3, ~0ull, kBegun + (3ull << 32)};
} // namespace

// Each thread has a word, and draws two tickets from it: 0 and 1 of all of these.
// launch: tickets_of_anything grid=1 block=6 in=4 out=144 exact
extern "C" __global__ void tickets_of_anything(const unsigned *, unsigned *out) {
  const unsigned thread = swage::threadIndex();
  auto *const word = reinterpret_cast<unsigned long long *>(out) + thread;
  *word = kHeld[thread];
  const TicketBegin begun = askTickets(word);
  beginTickets(word, begun);
  out[12 + thread] = drawTicket(word);
  beginTickets(word, begun);
  out[18 + thread] = drawTicketInOrder(word);
  out[24 + thread] = *word == kBegun + 2 * kTicket;
  endTickets(word);
  out[30 + thread] = *word == 0;
}
