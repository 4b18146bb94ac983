#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace hone {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Error(ErrorCode::kInvalidArgument, "odd number; give an even one");
  return n / 2;
}

Result<int> Quarter(int n) {
  HONE_ASSIGN_OR_RETURN(int half, Half(n));
  HONE_ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

Result<void> MustBeEven(int n) {
  HONE_RETURN_IF_ERROR(Half(n));
  return {};
}

TEST(Result, HoldsTheValueOnSuccess) {
  ASSERT_TRUE(Quarter(12).ok());
  EXPECT_EQ(*Quarter(12), 3);
}

TEST(Result, TheFirstErrorLeavesTheFunction) {
  Result<int> result = Quarter(6);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(result.error().In("quarter").message(), "quarter: odd number; give an even one");
}

TEST(Result, OfVoidIsSuccessOrError) {
  EXPECT_TRUE(MustBeEven(2).ok());
  EXPECT_FALSE(MustBeEven(3).ok());
}

TEST(Result, CarriesMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

TEST(ResultDeathTest, ReadingTheValueOfAFailureIsABug) {
  Result<int> result = Half(1);
  EXPECT_DEATH((void)result.value(), "odd number");
}

TEST(ErrorCode, EveryCodeHasANameOfItsOwn) {
  EXPECT_EQ(ErrorCodeName(ErrorCode::kNotFound), "not_found");
  EXPECT_NE(ErrorCodeName(ErrorCode::kUnavailable), ErrorCodeName(ErrorCode::kIo));
}

}  // namespace
}  // namespace hone
