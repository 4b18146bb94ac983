#pragma once

#include <exception>

#include "base/result.h"

namespace hone {

// What a foreign exception means to whoever ran the program, and what to do about it.
Error FailureOf(const std::exception& thrown);

// From now on a thread that such an exception ends is the orderly end of the program: it says what
// FailureOf says and exits with 1. Anything else that ends a thread is a bug, and aborts.
void EndInOrder();

}  // namespace hone
