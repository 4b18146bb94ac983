#include "base/bytes/protobuf.h"

#include <gtest/gtest.h>

#include <bit>

namespace hone {
namespace {

TEST(Protobuf, WhatIsWrittenIsReadAgain) {
  const std::string message = ProtoBytesOf(1, uint64_t{300}) + ProtoBytesOf(2, 0.5) +
                              ProtoBytesOf(3, 0.25f) + ProtoBytesOf(400, std::string_view("text"));
  ProtoReader reader(message);
  const auto number = reader.Next(), real = reader.Next(), single = reader.Next(),
             text = reader.Next();
  ASSERT_TRUE(number && real && single && text);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(number->number, 1u);
  EXPECT_EQ(number->value, 300u);
  EXPECT_FALSE(number->has_bytes);
  EXPECT_EQ(std::bit_cast<double>(real->value), 0.5);
  EXPECT_EQ(std::bit_cast<float>(static_cast<uint32_t>(single->value)), 0.25f);
  EXPECT_EQ(text->number, 400u);
  EXPECT_EQ(text->text(), "text");
}

// The example of protobuf's documentation: field 1 is 150; field 2 is "testing".
TEST(Protobuf, IsTheWireFormat) {
  EXPECT_EQ(ProtoBytesOf(1, uint64_t{150}), "\x08\x96\x01");
  EXPECT_EQ(ProtoBytesOf(2, std::string_view("testing")), "\x12\x07testing");
}

TEST(Protobuf, WhatIsCutOffIsNoField) {
  const std::string message = ProtoBytesOf(2, std::string_view("testing"));
  for (size_t size = 1; size < message.size(); ++size) {
    EXPECT_FALSE(ProtoReader(std::string_view(message).substr(0, size)).Next()) << size;
  }
  EXPECT_FALSE(ProtoReader(std::string_view("\x03")).Next()) << "a group that has no number";
  EXPECT_FALSE(ProtoReader(std::string_view("\x0b")).Next()) << "a group";
  EXPECT_FALSE(ProtoReader(std::string(11, '\xff')).Varint()) << "a varint without an end";
}

}  // namespace
}  // namespace hone
