//===- swage-random-graph.cpp - Prints the random graph of a seed ---------===//

#include "RandomGraph.h"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  char *end = nullptr;
  uint64_t seed = argc == 2 ? std::strtoull(argv[1], &end, 0) : 0;
  if (argc != 2 || end == argv[1] || *end) {
    std::fprintf(stderr, "usage: %s <seed>\n", argv[0]);
    return 1;
  }
  std::fputs(swage::test::randomGraph(seed).c_str(), stdout);
  return 0;
}
