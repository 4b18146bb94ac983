#include "tools/builtin/python_script.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace hone {
namespace {

// What it does is tested by its worker; this says at once when it is not Python.
TEST(PythonScript, IsPython) {
  const auto compiled = RunSubprocess(
      {"/usr/bin/python3", "-c", "import sys; compile(sys.stdin.read(), 'script', 'exec')"},
      kPythonScript, std::chrono::seconds(20));
  ASSERT_TRUE(compiled.ok()) << compiled.error().message();
  EXPECT_EQ(compiled->exit_code, 0) << compiled->standard_error;
}

}  // namespace
}  // namespace hone
