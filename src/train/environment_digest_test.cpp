#include "train/environment_digest.h"

#include <gtest/gtest.h>

#include "envs/desk/desk_teacher.h"
#include "support/env_player.h"

namespace hone {
namespace {

std::string DigestOf(const LoadedEnvironment& environment) {
  EnvPlayer player(environment.environment);
  return EnvironmentDigest(environment, player.executor()).value();
}

TEST(EnvironmentDigest, IsTheSameForTheSameEnvironment) {
  EXPECT_EQ(DigestOf(NewBuiltIn("desk").value()), DigestOf(NewBuiltIn("desk").value()));
  EXPECT_NE(DigestOf(NewBuiltIn("desk").value()), DigestOf(NewBuiltIn("quiz").value()));
  EXPECT_NE(DigestOf(NewBuiltIn("desk").value()), DigestOf(NewBuiltIn("service").value()));
}

TEST(EnvironmentDigest, SeesOtherTasksAndOtherTeachers) {
  const LoadedEnvironment desk = NewBuiltIn("desk").value();
  LoadedEnvironment other = desk;
  other.tasks = NewBuiltIn("quiz").value().tasks;
  EXPECT_NE(DigestOf(other), DigestOf(desk));
  other = desk;
  other.teacher = [](const Task& task, double error, Rng rng) {
    return desk::NewTeacher(task, error / 2, rng);
  };
  EXPECT_NE(DigestOf(other), DigestOf(desk));
}

}  // namespace
}  // namespace hone
