#include "WrapperReference.h"
using namespace swage::test;
void swage::test::addThreadReferences(References &) {}
void swage::test::addMemoryReferences(References &) {}
void swage::test::addClusterReferences(References &) {}
void swage::test::addTensorReferences(References &) {}
void swage::test::addMatrixReferences(References &) {}
void swage::test::addNumberReferences(References &) {}
