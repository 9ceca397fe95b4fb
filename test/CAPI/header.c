/* The header by itself, as C99 and nothing more. */
#include "swage-c/Swage.h"

size_t swageHeaderInC(void) {
  SwageContextOptions context = {.size = sizeof context};
  SwagePlanOptions plan = {.size = sizeof plan, .mode = SwagePlanCachedOnly};
  SwageParseOptions parse = {.size = sizeof parse, .entry = swageStringRef("main")};
  SwageError none = {NULL};
  return context.size + plan.size + parse.entry.length + (size_t)swageIsError(none);
}
