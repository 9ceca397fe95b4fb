//===- WrapperReferenceClusters.cpp - cluster.cu, bulk.cu, mbarrier.cu ----===//
#include "WrapperReference.h"

using namespace swage::test;

namespace {
void clusterPlaces(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 512);
  for (unsigned thread = 0; thread < 512; ++thread) {
    unsigned own = thread % 64, rank = thread / 64 % 4, first = thread / 256 * 256;
    results.add(thread, rank);
    results.add(thread, 4);
    for (unsigned i = 0; i < 2; ++i)
      results.add(thread, in[first + (rank + i) % 4 * 64 + (own ^ 11)] + in[thread] * 3);
    results.add(thread, in[thread]);
  }
}

void clusterAlone(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  for (unsigned thread = 0; thread < 64; ++thread)
    for (uint32_t word : {0u, 1u, in[thread ^ 3]})
      results.add(thread, word);
}

void clusterAccess(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 192);
  for (unsigned thread = 0; thread < 192; ++thread) {
    unsigned own = thread % 32, rank = thread / 32 % 2, pair = thread / 64 * 64;
    // Thread `i` of the other block, of this one: their words.
    auto theirs = [&](unsigned i, unsigned word) {
      return in[4 * (pair + (1 - rank) * 32 + i) + word];
    };
    auto ours = [&](unsigned i, unsigned word) { return in[4 * (pair + rank * 32 + i) + word]; };
    auto add = [&](uint32_t word) { results.add(thread, word); };
    add(theirs(own, 0));
    add(theirs(own ^ 1, 1)); // the low half comes first
    add(theirs(own ^ 1, 0));
    for (unsigned word = 0; word < 4; ++word)
      add(theirs(own ^ 7, word));
    add(ours(own ^ 3, 2));
    add(ours(own, 1));
    add(ours(own, 0));
    add(theirs(own, 0));
    add(ours(own, 2));
    add(theirs(own, 0));
    add(ours(own, 0));
  }
}

void clusterMbarrier(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 256);
  for (unsigned thread = 0; thread < 256; ++thread) {
    unsigned own = thread % 64, rank = thread / 64, before = (rank + 3) % 4;
    results.add(thread, before);
    results.add(thread, in[64 * before + (own ^ 1)]);
    results.add(thread, in[256 + 64 * before + (own ^ 63)]);
    results.add(thread, rank);
  }
}

void clusterAtomics(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned cluster = 0; cluster < 2; ++cluster)
    out.copy(64 * cluster, crowd(in, 256 * cluster, 256), 0, 64);
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

void bulkRoundTrip(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned i = 0; i < 2048; ++i)
    out.set(i, in[i ^ 64] * 3 + 1);
}

void bulkMulticast(const WrapperCase &, const Memory &in, Memory &out) {
  const unsigned masks[] = {0xf, 0x5, 0x8, 0xe};
  for (unsigned block = 0; block < 8; ++block)
    for (unsigned i = 0; i < 1024; ++i) {
      unsigned rank = i / 256; // who sends this part
      bool sent = masks[rank] >> block % 4 & 1;
      out.set(1024 * block + i, sent ? in[256 * (block / 4 * 4 + rank) + i % 256] : i);
    }
}

void bulkToCluster(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned block = 0; block < 6; ++block)
    for (unsigned i = 0; i < 256; ++i)
      out.set(256 * block + i, in[256 * (block ^ 1) + i] ^ i);
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void mbarrierPhases(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 192);
  for (unsigned thread = 0; thread < 192; ++thread) {
    unsigned own = thread % 96, first = thread - own;
    results.add(thread, true);
    results.add(thread, false);
    for (unsigned phase = 0; phase < 5; ++phase) {
      results.add(thread, in[first + (own + 17) % 96] + phase);
      results.add(thread, true);
    }
    results.add(thread, in[own % 2]);
  }
}

void mbarrierRing(const WrapperCase &, const Memory &in, Memory &out) {
  for (unsigned thread = 32; thread < 128; ++thread) {
    uint32_t sum = 0;
    for (unsigned step = 0; step < 9; ++step)
      sum = sum * 3 + in[32 * step + (thread + thread / 32) % 32];
    out.set(thread, sum);
  }
}

void mbarrierBytes(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 128);
  for (unsigned index = 0; index < 128; ++index) {
    unsigned thread = index % 64;
    // Words 0 to 127 lie at 0, 256 to 383 at 128, 512 to 575 at 256.
    const unsigned from[] = {0, 64, 256, 320, 512};
    for (unsigned first : from)
      results.add(index, in[first + (thread ^ 9)]);
    results.add(index, in[64 + (thread ^ 5)]);
    // Of the pairs (i, in[i]), words 0 to 127.
    for (unsigned word : {thread, 64 + thread})
      results.add(index, word % 2 ? in[word / 2] : word / 2);
  }
}

void mbarrierCopyAsync(const WrapperCase &, const Memory &in, Memory &out) {
  Results results(out, 64);
  for (unsigned thread = 0; thread < 64; ++thread) {
    results.add(thread, in[4 * (63 - thread) + 3]);
    results.add(thread, in[512 + 2 * (thread ^ 32)]);
  }
}
} // namespace

void swage::test::addClusterReferences(References &references) {
  references["cluster_places"] = clusterPlaces;
  references["cluster_alone"] = clusterAlone;
  references["cluster_access"] = clusterAccess;
  references["cluster_mbarrier"] = clusterMbarrier;
  references["cluster_atomics"] = clusterAtomics;
  references["bulk_round_trip"] = bulkRoundTrip;
  references["bulk_multicast"] = bulkMulticast;
  references["bulk_to_cluster"] = bulkToCluster;
  references["mbarrier_phases"] = mbarrierPhases;
  references["mbarrier_ring"] = mbarrierRing;
  references["mbarrier_bytes"] = mbarrierBytes;
  references["mbarrier_copy_async"] = mbarrierCopyAsync;
}
