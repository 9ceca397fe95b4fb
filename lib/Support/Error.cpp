//===- Error.cpp - Values that may be errors ------------------------------===//
//
// How an error is shown to a person.
//
//===----------------------------------------------------------------------===//
#include "swage/Support/Error.h"

using namespace swage;

const char *swage::stageName(Stage stage) {
  switch (stage) {
  case Stage::Input:
    return "input";
  case Stage::Parse:
    return "parse";
  case Stage::Verify:
    return "verify";
  case Stage::Lower:
    return "lower";
  case Stage::Compile:
    return "compile";
  case Stage::Cache:
    return "cache";
  case Stage::Load:
    return "load";
  case Stage::Launch:
    return "launch";
  case Stage::Run:
    return "run";
  }
  return "unknown";
}

std::string Error::str() const {
  std::string text = std::string(stageName(stage)) + " error: " + message;
  if (!log.empty()) {
    text += "\n" + log;
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
  }
  if (!sourcePath.empty())
    text += "\nsource: " + sourcePath;
  if (!reproduce.empty())
    text += "\nreproduce: " + reproduce;
  return text;
}
