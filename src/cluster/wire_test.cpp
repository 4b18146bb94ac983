#include "cluster/wire.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace hone {
namespace {

enum class Kind { kOne, kTwo };

struct Inner {
  std::string name;
  std::vector<float> values;
};
template <typename Wire>
void Fields(Wire& wire, Inner& inner) {
  wire(inner.name, inner.values);
}

struct Outer {
  int64_t number = 0;
  double fraction = 0;
  bool flag = false;
  Kind kind = Kind::kOne;
  std::vector<Inner> inner;
  std::map<std::string, int64_t> counts;
  std::optional<double> maybe, none;
  std::vector<std::string> names;
};
template <typename Wire>
void Fields(Wire& wire, Outer& outer) {
  wire(outer.number, outer.fraction, outer.flag, outer.kind, outer.inner, outer.counts, outer.maybe,
       outer.none, outer.names);
}

Outer Example() {
  Outer outer;
  outer.number = -7;
  outer.fraction = 0.1;
  outer.flag = true;
  outer.kind = Kind::kTwo;
  outer.inner = {{"a", {1.5f, -0.0f}}, {"", {}}};
  outer.counts = {{"x", 3}, {"y", -1}};
  outer.maybe = std::numeric_limits<double>::denorm_min();
  outer.names = {"first", std::string("with\0zero", 9)};
  return outer;
}

std::string Written(const Outer& outer) {
  WireWriter writer;
  writer(outer);
  return writer.Take();
}

TEST(WireTest, EverythingComesBack) {
  const std::string bytes = Written(Example());
  WireReader reader(bytes);
  Outer read;
  reader(read);
  EXPECT_TRUE(reader.whole());
  EXPECT_EQ(Written(read), bytes);
  EXPECT_EQ(read.inner[0].values[0], 1.5f);
  EXPECT_TRUE(std::signbit(read.inner[0].values[1]));
  EXPECT_EQ(read.names[1].size(), 9u);
  EXPECT_FALSE(read.none);
}

TEST(WireTest, BytesThatEndTooEarlyAreSeen) {
  const std::string bytes = Written(Example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    WireReader reader(std::string_view(bytes).substr(0, size));
    Outer read;
    reader(read);
    EXPECT_FALSE(reader.whole()) << size;
  }
  WireReader more(bytes);
  int64_t number = 0;
  more(number);
  EXPECT_FALSE(more.whole());  // something is left
}

TEST(WireTest, ACountThatCannotBeTakesNoMemory) {
  WireWriter writer;
  writer(size_t{1} << 60);
  const std::string bytes = writer.Take() + "xxxxxxxx";
  std::vector<double> numbers;
  WireReader reader(bytes);
  reader(numbers);
  EXPECT_FALSE(reader.whole());
  EXPECT_TRUE(numbers.empty());
}

}  // namespace
}  // namespace hone
