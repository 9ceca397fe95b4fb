//===- Finding.cpp - What the simulator found, and where ------------------===//

#include "Finding.h"

#include <fmt/format.h>

using namespace swage::simt;

const char *swage::simt::name(FindingKind kind) {
  switch (kind) {
  case FindingKind::SharedRace:
    return "shared-race";
  case FindingKind::MissingFence:
    return "missing-fence";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::ReadOnlyWrite:
    return "read-only-write";
  case FindingKind::Undefined:
    return "undefined";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::BarrierMisuse:
    return "barrier-misuse";
  case FindingKind::BadInstruction:
    return "bad-instruction";
  case FindingKind::EarlyAccess:
    return "early-access";
  case FindingKind::Crash:
    return "crash";
  case FindingKind::NoProgress:
    return "no-progress";
  }
  return "unknown";
}

std::string CodePlace::str() const {
  std::string text;
  for (const CodeLine &line : lines)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ", in ", line.file, line.line);
  return text;
}

std::string Finding::str() const {
  std::string text = fmt::format("{}: {}", name(kind), message);
  auto add = [&](const std::string &label, const std::string &value) {
    if (!value.empty())
      text += fmt::format("\n  {:<8} {}", label, value);
  };
  add("kernel", kernel);
  add("at", place.str());
  add("line", kernelLine.empty() ? "" : fmt::format("{}: {}", kernelLine, kernelText));
  add("op", op);
  add("thread", thread);
  for (const RelatedPlace &other : related)
    add("other", other.place.lines.empty()
                     ? other.what
                     : fmt::format("{} at {}", other.what, other.place.str()));
  for (const std::string &detail : details)
    text += "\n    " + detail;
  return text;
}
