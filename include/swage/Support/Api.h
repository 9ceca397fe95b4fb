//===- Api.h - What the shared libraries export ---------------------------===//
#ifndef SWAGE_SUPPORT_API_H
#define SWAGE_SUPPORT_API_H

/// On a class or function that host programs call: exported from libswage and libswage_runtime, in
/// which everything else is hidden.
#define SWAGE_API __attribute__((visibility("default")))

#endif // SWAGE_SUPPORT_API_H
