// What a run writes for others to read: TensorBoard's event files and metrics.jsonl.

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "e2e/program.h"
#include "support/tiny_recipe.h"
#include "train/metrics_table.h"

namespace hone {
namespace {

// A reader of event files that shares nothing with the writer: checksums bit by bit, fields as
// their wire types say.
class EventReader {
 public:
  struct Event {
    double wall_time = 0;
    int64_t step = 0;
    std::string version;
    std::map<std::string, float> values;
  };

  // All events, or a test failure.
  static std::vector<Event> Read(std::string_view bytes) {
    std::vector<Event> events;
    while (!bytes.empty()) {
      uint64_t length = 0;
      uint32_t length_crc = 0, crc = 0;
      if (bytes.size() < 12) {
        ADD_FAILURE() << "the file ends inside of a record's head";
        break;
      }
      std::memcpy(&length, bytes.data(), 8);
      std::memcpy(&length_crc, bytes.data() + 8, 4);
      EXPECT_EQ(length_crc, Masked(Crc(bytes.substr(0, 8))));
      if (bytes.size() < 16 + length) {
        ADD_FAILURE() << "the file ends inside of a record";
        break;
      }
      const std::string_view data = bytes.substr(12, length);
      std::memcpy(&crc, bytes.data() + 12 + length, 4);
      EXPECT_EQ(crc, Masked(Crc(data)));
      events.push_back(ReadEvent(data));
      bytes.remove_prefix(16 + length);
    }
    return events;
  }

  static uint32_t Crc(std::string_view bytes) {
    uint32_t crc = ~0u;
    for (const char c : bytes) {
      crc ^= static_cast<uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
    }
    return ~crc;
  }

 private:
  static uint32_t Masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

  static uint64_t Varint(std::string_view* bytes) {
    uint64_t value = 0;
    for (int shift = 0; !bytes->empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes->front());
      bytes->remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }

  // Calls `field` with the number of each field, its number or its bytes.
  template <typename Field>
  static void Walk(std::string_view bytes, const Field& field) {
    while (!bytes.empty()) {
      const uint64_t key = Varint(&bytes);
      const size_t fixed = (key & 7) == 1 ? 8 : (key & 7) == 5 ? 4 : 0;
      if (fixed > 0) {
        field(key >> 3, uint64_t{0}, bytes.substr(0, fixed));
        bytes.remove_prefix(fixed);
      } else if ((key & 7) == 2) {
        const uint64_t size = Varint(&bytes);
        ASSERT_LE(size, bytes.size());
        field(key >> 3, uint64_t{0}, bytes.substr(0, size));
        bytes.remove_prefix(size);
      } else {
        ASSERT_EQ(key & 7, 0u) << "a wire type that these files do not have";
        field(key >> 3, Varint(&bytes), std::string_view());
      }
    }
  }

  template <typename T>
  static T As(std::string_view bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof value);
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
  }

  static Event ReadEvent(std::string_view data) {
    Event event;
    Walk(data, [&](uint64_t number, uint64_t value, std::string_view bytes) {
      if (number == 1) event.wall_time = As<double>(bytes);
      if (number == 2) event.step = static_cast<int64_t>(value);
      if (number == 3) event.version = bytes;
      if (number != 5) return;
      Walk(bytes, [&](uint64_t summary, uint64_t, std::string_view one) {
        ASSERT_EQ(summary, 1u);
        std::string tag;
        float scalar = 0;
        Walk(one, [&](uint64_t part, uint64_t, std::string_view content) {
          if (part == 1) tag = content;
          if (part == 2) scalar = As<float>(content);
        });
        event.values[tag] = scalar;
      });
    });
    return event;
  }
};

class RunFilesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory();
    const std::filesystem::path recipe = directory_->path() / "tiny.toml";
    ASSERT_TRUE(WriteFileAtomic(recipe, TinyRecipe(directory_->path())).ok());
    const SubprocessResult trained =
        Hone({"train", recipe.string(), "--quiet", "objective.kl.coefficient=0.01",
              "dynamic_sampling.on=true", "replay.on=true", "curriculum.order=dynamic"});
    ASSERT_EQ(trained.exit_code, 0) << trained.standard_error;
  }
  static void TearDownTestSuite() { delete directory_; }

  static std::vector<Json> Lines() {
    return *ParseJsonLines(*ReadFile(directory_->path() / "tiny/metrics.jsonl"));
  }

  static TemporaryDirectory* directory_;
};

TemporaryDirectory* RunFilesTest::directory_ = nullptr;

TEST_F(RunFilesTest, AnotherReaderFindsEveryNumberInTheEventFile) {
  ASSERT_EQ(EventReader::Crc("123456789"), 0xe3069283u);  // as RFC 3720 has it
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(directory_->path() / "tiny")) {
    if (!entry.path().filename().string().starts_with("events.out.tfevents.")) continue;
    EXPECT_TRUE(bytes.empty()) << "a run that was not interrupted has one file";
    bytes = *ReadFile(entry.path());
  }
  const std::vector<EventReader::Event> events = EventReader::Read(bytes);
  const std::vector<Json> lines = Lines();
  ASSERT_EQ(events.size(), 2 + lines.size());
  EXPECT_EQ(events[0].version, "brain.Event:2");
  for (size_t i = 0; i < lines.size(); ++i) {
    const EventReader::Event& event = events[2 + i];
    EXPECT_EQ(event.step, lines[i].Find("step")->AsInteger());
    EXPECT_GE(event.wall_time, events[1 + i].wall_time);
    EXPECT_EQ(event.values.size() + 1, lines[i].AsObject().size());
    for (const auto& [tag, value] : event.values) {
      ASSERT_NE(lines[i].Find(tag), nullptr) << tag;
      EXPECT_EQ(value, static_cast<float>(lines[i].Find(tag)->AsDouble())) << tag;
    }
  }
}

TEST_F(RunFilesTest, OneWrongByteIsFound) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(directory_->path() / "tiny")) {
    if (entry.path().filename().string().starts_with("events.out")) bytes = *ReadFile(entry.path());
  }
  ASSERT_GT(bytes.size(), 100u);
  const std::string_view record = std::string_view(bytes).substr(12, 24);
  std::string other(record);
  other[5] = static_cast<char>(other[5] ^ 1);
  EXPECT_NE(EventReader::Crc(record), EventReader::Crc(other));
}

// The page is held against the table where the table is (train/metrics_table_test.cpp).
TEST_F(RunFilesTest, EveryKeyOfTheMetricsIsDocumented) {
  std::set<std::string> written;
  for (const Json& line : Lines()) {
    for (const auto& [name, value] : line.AsObject()) written.insert(name);
  }
  for (const std::string& name : written) {
    EXPECT_TRUE(name == "step" || FindMetric(name) != nullptr)
        << "nobody says what " << name << " is";
  }
  for (const char* name : {"success", "sft/loss", "dev/greedy", "time/step", "kl_coefficient"}) {
    EXPECT_TRUE(written.contains(name)) << name;
  }
}

}  // namespace
}  // namespace hone
