// The check of threads must fire.

#include <cstdlib>

#include "support/house_check.h"

namespace hone {
namespace {

class ThreadsTest : public HouseCheckTest {
 protected:
  ThreadsTest() : HouseCheckTest("check_threads.py") {}

  void SetUp() override {
    const auto found = RunSubprocess({"clang++", "--version"}, "", std::chrono::seconds(60));
    if (!found.ok()) GTEST_SKIP() << "needs clang++: ./dev check installs it";
    Write("src/base/mutex.h", *ReadFile(HONE_SOURCE_DIR "/src/base/mutex.h"));
  }
  // A counter with this as the body of a member function.
  void WriteCounter(const std::string& body) {
    Write("src/base/counter.h",
          "#pragma once\n#include \"base/mutex.h\"\nnamespace hone {\nclass Counter {\n public:\n"
          "  void Go();\n private:\n  void Add() HONE_REQUIRES(mutex_) { ++count_; }\n"
          "  Mutex mutex_;\n  ConditionVariable changed_;\n"
          "  int count_ HONE_GUARDED_BY(mutex_) = 0;\n};\n}\n");
    Write("src/base/counter.cpp",
          "#include \"base/counter.h\"\nnamespace hone {\n"
          "void Counter::Go() {\n" +
              body + "}\n}\n");
  }
};

TEST_F(ThreadsTest, WhatIsLockedPasses) {
  WriteCounter(
      "  MutexLock lock(mutex_);\n  Add();\n"
      "  changed_.wait(lock, [&]() HONE_REQUIRES(mutex_) { return count_ > 0; });\n"
      "  lock.unlock();\n  lock.lock();\n  ++count_;\n");
  const SubprocessResult result = Check();
  EXPECT_EQ(result.exit_code, 0) << result.standard_output;
}

TEST_F(ThreadsTest, AGuardedMemberWithoutItsMutexIsFound) {
  WriteCounter("  ++count_;\n");
  ExpectRefused("writing variable 'count_' requires holding mutex 'mutex_'");
  WriteCounter("  Add();\n");
  ExpectRefused("calling function 'Add' requires holding mutex 'mutex_'");
  WriteCounter("  MutexLock lock(mutex_);\n  lock.unlock();\n  ++count_;\n");
  ExpectRefused("writing variable 'count_' requires holding mutex 'mutex_'");
}

TEST_F(ThreadsTest, ACompilerThatIsKilledHasNotChecked) {
  WriteCounter("  MutexLock lock(mutex_);\n  ++count_;\n");
  Write("bin/clang++", "#!/bin/sh\nkill -KILL $$\n");
  const std::filesystem::path bin = directory_.path() / "bin";
  std::filesystem::permissions(bin / "clang++", std::filesystem::perms::owner_all);
  const auto result = RunSubprocess(
      {"env", "PATH=" + bin.string() + ":" + ::getenv("PATH"), script_, directory_.path().string()},
      "", std::chrono::seconds(120));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->exit_code, 1);
  EXPECT_NE(result->standard_output.find("counter.cpp: clang++ said nothing and ended with -9"),
            std::string::npos)
      << result->standard_output;
}

TEST_F(ThreadsTest, AMutexThatCannotBeCheckedIsFound) {
  Write("src/base/other.h", "#include <mutex>\nstruct Other { std::mutex mutex; };\n");
  ExpectRefused("other.h:2: std::mutex where base/mutex.h has one that is checked");
}

}  // namespace
}  // namespace hone
