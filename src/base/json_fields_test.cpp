#include "base/json_fields.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

struct Point {
  int32_t x = 0;
  float weight = 1;
  std::optional<std::string> label;
  std::vector<int64_t> path;
};

void ReadJson(const Json& json, const std::string& path, JsonErrors* errors, Point* point) {
  JsonFields fields(json, path, errors);
  fields.Required("x", &point->x);
  fields.Optional("weight", &point->weight);
  fields.Optional("label", &point->label);
  fields.Optional("path", &point->path);
}

std::string ProblemOf(std::string_view text, std::vector<Point>* points = nullptr) {
  std::vector<Point> local;
  JsonErrors errors;
  ReadJson(*ParseJson(text), "points", &errors, points != nullptr ? points : &local);
  return errors.ok() ? "" : errors.Check().error().message();
}

TEST(JsonFields, ReadsStructsWithDefaults) {
  std::vector<Point> points;
  EXPECT_EQ(
      ProblemOf(R"([{"x":1},{"x":2,"weight":0.5,"label":"b","path":[1,2]},{"x":3,"label":null}])",
                &points),
      "");
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].weight, 1);
  EXPECT_EQ(points[1].label, "b");
  EXPECT_EQ(points[1].path.size(), 2u);
  EXPECT_EQ(points[2].label, std::nullopt);
}

TEST(JsonFields, ProblemsSayWhere) {
  EXPECT_EQ(ProblemOf(R"([{"x":1},{"x":"1"}])"), "points[1].x: wants an integer, not a string");
  EXPECT_EQ(ProblemOf(R"([{}])"), "points[0]: the key \"x\" is missing");
  EXPECT_EQ(ProblemOf(R"([{"x":1,"wieght":2}])"),
            "points[0]: unknown key \"wieght\" (did you mean \"weight\"?)");
  EXPECT_EQ(ProblemOf(R"([{"x":1,"path":[1,2.5]}])"),
            "points[0].path[1]: wants an integer, not a real number");
  EXPECT_EQ(ProblemOf(R"([5])"), "points[0]: wants an object, not an integer");
  EXPECT_EQ(ProblemOf(R"({})"), "points: wants an array, not an object");
  EXPECT_EQ(ProblemOf(R"([{"x":3000000000}])"), "points[0].x: the integer does not fit 32 bits");
  EXPECT_EQ(ProblemOf(R"([{"x":1,"weight":1e300}])"),
            "points[0].weight: the number does not fit 32 bits");
}

}  // namespace
}  // namespace hone
