//===- HostileText.h - Texts that are meant to do harm --------------------===//
#ifndef SWAGE_TEST_ERRORS_HOSTILETEXT_H
#define SWAGE_TEST_ERRORS_HOSTILETEXT_H

#include <string>
#include <vector>

struct HostileText {
  const char *name;
  std::string (*make)();
  /// Part of the message that refuses it; null: it is harmless and becomes kernels.
  const char *refusal;
};

/// Each takes a parser, a verifier, a pass or memory to where its author thought it would break.
const std::vector<HostileText> &hostileTexts();

#endif // SWAGE_TEST_ERRORS_HOSTILETEXT_H
