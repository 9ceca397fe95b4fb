// The operands of wgmma for each N: which the statements of wgmma.cuh are made of.
#pragma once

// The registers of D as text, "%0, ..., %7" for N = 16, and as operands.
#define SWAGE_R_8 "%0, %1, %2, %3"
#define SWAGE_R_16 SWAGE_R_8 ", %4, %5, %6, %7"
#define SWAGE_R_24 SWAGE_R_16 ", %8, %9, %10, %11"
#define SWAGE_R_32 SWAGE_R_24 ", %12, %13, %14, %15"
#define SWAGE_R_40 SWAGE_R_32 ", %16, %17, %18, %19"
#define SWAGE_R_48 SWAGE_R_40 ", %20, %21, %22, %23"
#define SWAGE_R_56 SWAGE_R_48 ", %24, %25, %26, %27"
#define SWAGE_R_64 SWAGE_R_56 ", %28, %29, %30, %31"
#define SWAGE_R_72 SWAGE_R_64 ", %32, %33, %34, %35"
#define SWAGE_R_80 SWAGE_R_72 ", %36, %37, %38, %39"
#define SWAGE_R_88 SWAGE_R_80 ", %40, %41, %42, %43"
#define SWAGE_R_96 SWAGE_R_88 ", %44, %45, %46, %47"
#define SWAGE_R_104 SWAGE_R_96 ", %48, %49, %50, %51"
#define SWAGE_R_112 SWAGE_R_104 ", %52, %53, %54, %55"
#define SWAGE_R_120 SWAGE_R_112 ", %56, %57, %58, %59"
#define SWAGE_R_128 SWAGE_R_120 ", %60, %61, %62, %63"
#define SWAGE_R_136 SWAGE_R_128 ", %64, %65, %66, %67"
#define SWAGE_R_144 SWAGE_R_136 ", %68, %69, %70, %71"
#define SWAGE_R_152 SWAGE_R_144 ", %72, %73, %74, %75"
#define SWAGE_R_160 SWAGE_R_152 ", %76, %77, %78, %79"
#define SWAGE_R_168 SWAGE_R_160 ", %80, %81, %82, %83"
#define SWAGE_R_176 SWAGE_R_168 ", %84, %85, %86, %87"
#define SWAGE_R_184 SWAGE_R_176 ", %88, %89, %90, %91"
#define SWAGE_R_192 SWAGE_R_184 ", %92, %93, %94, %95"
#define SWAGE_R_200 SWAGE_R_192 ", %96, %97, %98, %99"
#define SWAGE_R_208 SWAGE_R_200 ", %100, %101, %102, %103"
#define SWAGE_R_216 SWAGE_R_208 ", %104, %105, %106, %107"
#define SWAGE_R_224 SWAGE_R_216 ", %108, %109, %110, %111"
#define SWAGE_R_232 SWAGE_R_224 ", %112, %113, %114, %115"
#define SWAGE_R_240 SWAGE_R_232 ", %116, %117, %118, %119"
#define SWAGE_R_248 SWAGE_R_240 ", %120, %121, %122, %123"
#define SWAGE_R_256 SWAGE_R_248 ", %124, %125, %126, %127"
#define SWAGE_D(I, J, K, L) "+f"(d[I]), "+f"(d[J]), "+f"(d[K]), "+f"(d[L])
#define SWAGE_D_8 SWAGE_D(0, 1, 2, 3)
#define SWAGE_D_16 SWAGE_D_8, SWAGE_D(4, 5, 6, 7)
#define SWAGE_D_24 SWAGE_D_16, SWAGE_D(8, 9, 10, 11)
#define SWAGE_D_32 SWAGE_D_24, SWAGE_D(12, 13, 14, 15)
#define SWAGE_D_40 SWAGE_D_32, SWAGE_D(16, 17, 18, 19)
#define SWAGE_D_48 SWAGE_D_40, SWAGE_D(20, 21, 22, 23)
#define SWAGE_D_56 SWAGE_D_48, SWAGE_D(24, 25, 26, 27)
#define SWAGE_D_64 SWAGE_D_56, SWAGE_D(28, 29, 30, 31)
#define SWAGE_D_72 SWAGE_D_64, SWAGE_D(32, 33, 34, 35)
#define SWAGE_D_80 SWAGE_D_72, SWAGE_D(36, 37, 38, 39)
#define SWAGE_D_88 SWAGE_D_80, SWAGE_D(40, 41, 42, 43)
#define SWAGE_D_96 SWAGE_D_88, SWAGE_D(44, 45, 46, 47)
#define SWAGE_D_104 SWAGE_D_96, SWAGE_D(48, 49, 50, 51)
#define SWAGE_D_112 SWAGE_D_104, SWAGE_D(52, 53, 54, 55)
#define SWAGE_D_120 SWAGE_D_112, SWAGE_D(56, 57, 58, 59)
#define SWAGE_D_128 SWAGE_D_120, SWAGE_D(60, 61, 62, 63)
#define SWAGE_D_136 SWAGE_D_128, SWAGE_D(64, 65, 66, 67)
#define SWAGE_D_144 SWAGE_D_136, SWAGE_D(68, 69, 70, 71)
#define SWAGE_D_152 SWAGE_D_144, SWAGE_D(72, 73, 74, 75)
#define SWAGE_D_160 SWAGE_D_152, SWAGE_D(76, 77, 78, 79)
#define SWAGE_D_168 SWAGE_D_160, SWAGE_D(80, 81, 82, 83)
#define SWAGE_D_176 SWAGE_D_168, SWAGE_D(84, 85, 86, 87)
#define SWAGE_D_184 SWAGE_D_176, SWAGE_D(88, 89, 90, 91)
#define SWAGE_D_192 SWAGE_D_184, SWAGE_D(92, 93, 94, 95)
#define SWAGE_D_200 SWAGE_D_192, SWAGE_D(96, 97, 98, 99)
#define SWAGE_D_208 SWAGE_D_200, SWAGE_D(100, 101, 102, 103)
#define SWAGE_D_216 SWAGE_D_208, SWAGE_D(104, 105, 106, 107)
#define SWAGE_D_224 SWAGE_D_216, SWAGE_D(108, 109, 110, 111)
#define SWAGE_D_232 SWAGE_D_224, SWAGE_D(112, 113, 114, 115)
#define SWAGE_D_240 SWAGE_D_232, SWAGE_D(116, 117, 118, 119)
#define SWAGE_D_248 SWAGE_D_240, SWAGE_D(120, 121, 122, 123)
#define SWAGE_D_256 SWAGE_D_248, SWAGE_D(124, 125, 126, 127)

// X(N, the numbers of the 20 operands after those of D)
// clang-format off
#define SWAGE_WGMMA_N8(X)                                                                          \
  X(8, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
#define SWAGE_WGMMA_N16(X)                                                                         \
  X(16, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)
#define SWAGE_WGMMA_N24(X)                                                                         \
  X(24, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
#define SWAGE_WGMMA_N32(X)                                                                         \
  X(32, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35)
#define SWAGE_WGMMA_N40(X)                                                                         \
  X(40, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39)
#define SWAGE_WGMMA_N48(X)                                                                         \
  X(48, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43)
#define SWAGE_WGMMA_N56(X)                                                                         \
  X(56, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47)
#define SWAGE_WGMMA_N64(X)                                                                         \
  X(64, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51)
#define SWAGE_WGMMA_N72(X)                                                                         \
  X(72, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55)
#define SWAGE_WGMMA_N80(X)                                                                         \
  X(80, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59)
#define SWAGE_WGMMA_N88(X)                                                                         \
  X(88, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63)
#define SWAGE_WGMMA_N96(X)                                                                         \
  X(96, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67)
#define SWAGE_WGMMA_N104(X)                                                                        \
  X(104, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71)
#define SWAGE_WGMMA_N112(X)                                                                        \
  X(112, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75)
#define SWAGE_WGMMA_N120(X)                                                                        \
  X(120, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79)
#define SWAGE_WGMMA_N128(X)                                                                        \
  X(128, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83)
#define SWAGE_WGMMA_N136(X)                                                                        \
  X(136, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87)
#define SWAGE_WGMMA_N144(X)                                                                        \
  X(144, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91)
#define SWAGE_WGMMA_N152(X)                                                                        \
  X(152, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95)
#define SWAGE_WGMMA_N160(X)                                                                        \
  X(160, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99)
#define SWAGE_WGMMA_N168(X)                                                                        \
  X(168, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103)
#define SWAGE_WGMMA_N176(X)                                                                        \
  X(176, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107)
#define SWAGE_WGMMA_N184(X)                                                                        \
  X(184, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111)
#define SWAGE_WGMMA_N192(X)                                                                        \
  X(192, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115)
#define SWAGE_WGMMA_N200(X)                                                                        \
  X(200, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119)
#define SWAGE_WGMMA_N208(X)                                                                        \
  X(208, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123)
#define SWAGE_WGMMA_N216(X)                                                                        \
  X(216, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127)
#define SWAGE_WGMMA_N224(X)                                                                        \
  X(224, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131)
#define SWAGE_WGMMA_N232(X)                                                                        \
  X(232, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135)
#define SWAGE_WGMMA_N240(X)                                                                        \
  X(240, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139)
#define SWAGE_WGMMA_N248(X)                                                                        \
  X(248, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143)
#define SWAGE_WGMMA_N256(X)                                                                        \
  X(256, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147)
// clang-format on

// All N there are.  A kernel that defines it as those it has takes less time to compile.
#ifndef SWAGE_WGMMA_SHAPES
#define SWAGE_WGMMA_SHAPES(X)                                                                      \
  SWAGE_WGMMA_N8(X)                                                                                \
  SWAGE_WGMMA_N16(X) SWAGE_WGMMA_N24(X) SWAGE_WGMMA_N32(X) SWAGE_WGMMA_N40(X) SWAGE_WGMMA_N48(X)   \
      SWAGE_WGMMA_N56(X) SWAGE_WGMMA_N64(X) SWAGE_WGMMA_N72(X) SWAGE_WGMMA_N80(X)                  \
          SWAGE_WGMMA_N88(X) SWAGE_WGMMA_N96(X) SWAGE_WGMMA_N104(X) SWAGE_WGMMA_N112(X)            \
              SWAGE_WGMMA_N120(X) SWAGE_WGMMA_N128(X) SWAGE_WGMMA_N136(X) SWAGE_WGMMA_N144(X)      \
                  SWAGE_WGMMA_N152(X) SWAGE_WGMMA_N160(X) SWAGE_WGMMA_N168(X) SWAGE_WGMMA_N176(X)  \
                      SWAGE_WGMMA_N184(X) SWAGE_WGMMA_N192(X) SWAGE_WGMMA_N200(X)                  \
                          SWAGE_WGMMA_N208(X) SWAGE_WGMMA_N216(X) SWAGE_WGMMA_N224(X)              \
                              SWAGE_WGMMA_N232(X) SWAGE_WGMMA_N240(X) SWAGE_WGMMA_N248(X)          \
                                  SWAGE_WGMMA_N256(X)
#endif
