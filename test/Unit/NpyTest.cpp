//===- NpyTest.cpp - NumPy files ------------------------------------------===//

#include "swage/Reference/Npy.h"
#include "swage/Reference/GuardBands.h"
#include "swage/Reference/InputFamilies.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace swage::reference;

static std::string messageOf(llvm::Expected<Tensor> tensor) {
  return tensor ? "" : llvm::toString(tensor.takeError());
}

static std::string file(llvm::StringRef header, size_t dataBytes, char major = 1) {
  std::string text("\x93NUMPY", 6);
  text += major;
  text += '\0';
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  if (major == 2)
    text += std::string(2, '\0');
  return text + header.str() + std::string(dataBytes, '\0');
}

// The bytes that numpy.save writes for numpy.zeros((2, 3), 'f4').
TEST(Npy, headerIsNumPys) {
  std::string header = npyHeader(ElementType::F32, {2, 3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(npyHeader(ElementType::I8, {5}).find("'shape': (5,), }"), std::string::npos);
  EXPECT_NE(npyHeader(ElementType::I1, {}).find("'|b1', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
}

TEST(Npy, writtenFilesReadBack) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("swage", "npy", path));
  for (ElementType type : {ElementType::F8E4M3FN, ElementType::F8E5M2, ElementType::F16,
                           ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::I1,
                           ElementType::I8, ElementType::I32, ElementType::I64})
    for (Shape shape : {Shape{}, Shape{7}, Shape{3, 0, 2}, Shape{2, 3, 4, 5}}) {
      Tensor tensor = llvm::cantFail(Tensor::create(type, shape));
      fillInput(tensor, InputFamily::Dense, 3, 0);
      ASSERT_FALSE(writeNpy(path, tensor));
      Tensor read = llvm::cantFail(readNpy(path, type, shape));
      EXPECT_EQ(read.type(), type);
      EXPECT_EQ(read.shape(), llvm::ArrayRef<int64_t>(shape));
      EXPECT_EQ(firstDifference(read.data(), tensor.data(), tensor.bytes()), -1);
    }
  EXPECT_NE(messageOf(readNpy(path, ElementType::F16, {2}))
                .find("holds 2x3x4x5xi64, but must hold 2xf16"),
            std::string::npos);
  llvm::sys::fs::remove(path);
  EXPECT_NE(messageOf(readNpy(path)).find("No such file"), std::string::npos);
  EXPECT_EQ(messageOf(readNpy("/dev/zero")), "/dev/zero: not a regular file");
  Tensor tensor = llvm::cantFail(Tensor::create(ElementType::F32, {1}));
  tensor.setReal(0, 0);
  EXPECT_FALSE(llvm::toString(writeNpy("/nonexistent/x.npy", tensor)).empty());
}

TEST(Npy, readsWhatOthersWrite) {
  std::string v2 = file("{'shape': (3,), \"descr\": \"<u2\", 'fortran_order': False}", 6, 2);
  llvm::Expected<Tensor> tensor = parseNpy(v2, "a");
  ASSERT_TRUE(!!tensor) << llvm::toString(tensor.takeError());
  EXPECT_EQ(tensor->type(), ElementType::BF16);
  EXPECT_EQ(
      messageOf(parseNpy(file("{'descr': '|V2', 'fortran_order': True, 'shape': (3,)}\n", 6), "a")),
      ""); // in one dimension the order is the same
}

TEST(Npy, refusesWhatItCannotRead) {
  auto message = [](llvm::StringRef header, size_t bytes, char major = 1) {
    return messageOf(parseNpy(file(header, bytes, major), "a.npy"));
  };
  EXPECT_EQ(message("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4),
            "a.npy: has dtype '>f4', but must have <f2, <f4, <f8, |i1, <i4, <i8, |b1, <V2 (bf16), <V1 "
            "(f8E4M3FN) or <f1 (f8E5M2)");
  EXPECT_EQ(message("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", 20),
            "a.npy: truncated: 3x2xf32 takes 24 bytes, but the file has 20");
  EXPECT_EQ(message("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", 25),
            "a.npy: too long: 3x2xf32 takes 24 bytes, but the file has 25");
  EXPECT_EQ(message("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2)}", 24),
            "a.npy: is in Fortran order, but must be in C order");
  EXPECT_EQ(message("", 0, 3), "a.npy: has format 3.0, but only 1.0 and 2.0 are known");
  EXPECT_EQ(message("{'descr': '<f4', 'fortran_order': False, "
                    "'shape': (4294967296, 4294967296)}",
                    0),
            "a.npy: has a shape of more than 2^48 elements");
  for (const char *header :
       {"", "{}", "{'descr': '<f4'}", "{'descr': 1, 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"})
    EXPECT_NE(message(header, 4).find("has a header that is not"), std::string::npos) << header;
  EXPECT_NE(messageOf(parseNpy("PK\x03\x04", "a.npz")).find("not a .npy file"), std::string::npos);
}

TEST(Npy, truncationAnywhereIsAnError) {
  std::string whole = npyHeader(ElementType::F16, {4}) + std::string(8, '\1');
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(messageOf(parseNpy(llvm::StringRef(whole).take_front(size), "a")), "") << size;
  EXPECT_EQ(messageOf(parseNpy(whole, "a")), "");
}
