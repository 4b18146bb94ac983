#include "tools/mcp/sse.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<SseEvent> EventsOf(std::string_view stream, size_t piece = 1000) {
  SseReader reader;
  std::vector<SseEvent> all;
  for (size_t i = 0; i < stream.size(); i += piece) {
    for (SseEvent& event : reader.Feed(stream.substr(i, piece))) all.push_back(std::move(event));
  }
  return all;
}

TEST(Sse, ReadsTypeDataAndId) {
  EXPECT_EQ(EventsOf("event: message\nid: 7\ndata: {\"a\":1}\n\n"),
            (std::vector<SseEvent>{{"message", "{\"a\":1}", "7"}}));
  EXPECT_EQ(EventsOf("event:ping\ndata:x\n\ndata: y\n\n"),
            (std::vector<SseEvent>{{"ping", "x", ""}, {"message", "y", ""}}));
}

TEST(Sse, LinesOfDataAreJoined) {
  EXPECT_EQ(EventsOf("data: a\ndata\ndata:  b\n\n"),
            (std::vector<SseEvent>{{"message", "a\n\n b", ""}}));
}

TEST(Sse, AnIdLastsUntilTheNext) {
  EXPECT_EQ(
      EventsOf("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"),
      (std::vector<SseEvent>{{"message", "a", "1"}, {"message", "b", "1"}, {"message", "c", ""}}));
  EXPECT_EQ(EventsOf(std::string_view("id: 1\ndata: a\n\nid: x\0y\ndata: b\n\n", 33)),
            (std::vector<SseEvent>{{"message", "a", "1"}, {"message", "b", "1"}}));
}

TEST(Sse, CommentsUnknownFieldsAndEventsWithoutDataArePassedOver) {
  EXPECT_EQ(EventsOf(": hello\n\nretry: 10\nevent: x\nid: 3\n\nwhat: else\ndata: a\n\n"),
            (std::vector<SseEvent>{{"message", "a", "3"}}));
}

TEST(Sse, WhatDoesNotEndIsNoEvent) {
  EXPECT_TRUE(EventsOf("data: a\n").empty());
  EXPECT_TRUE(EventsOf("data: a").empty());
}

TEST(Sse, AByteOrderMarkAtTheStartIsNotThere) {
  EXPECT_EQ(EventsOf("\xEF\xBB\xBF"
                     "data: a\n\n"),
            (std::vector<SseEvent>{{"message", "a", ""}}));
}

TEST(Sse, AnyLineEndAndAnyCutGiveTheSame) {
  const std::string lines[] = {"id: 1",     "data: gr\xC3\xBC\xC3\x9F",
                               "data: two", "",
                               ": c",       "data",
                               "",          "event: e",
                               "data: 3",   ""};
  const std::vector<SseEvent> wanted = {
      {"message", "gr\xC3\xBC\xC3\x9F\ntwo", "1"}, {"message", "", "1"}, {"e", "3", "1"}};
  for (const char* end : {"\n", "\r", "\r\n"}) {
    std::string stream;
    for (const std::string& line : lines) stream += line + end;
    for (size_t piece = 1; piece <= stream.size(); ++piece) {
      EXPECT_EQ(EventsOf(stream, piece), wanted) << piece;
    }
  }
}

TEST(Sse, SaysHowMuchItHolds) {
  SseReader reader;
  EXPECT_TRUE(reader.Feed("data: abc\ndata").empty());
  EXPECT_EQ(reader.held_bytes(), 8u);
  EXPECT_EQ(reader.Feed("\n\n").size(), 1u);
  EXPECT_EQ(reader.held_bytes(), 0u);
}

}  // namespace
}  // namespace hone
