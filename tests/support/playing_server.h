#pragma once

#include "base/hash.h"
#include "simulate/players/schema_sampler.h"
#include "support/chat_server.h"

namespace hone {

// Plays any tool as a language model would that reads its prompt well: an answer out of the output
// schema that stands there, fixed by the whole request, as by a model that minds the seed.
inline ChatServer::Reply PlayTool(const ChatServer::Request& request) {
  const std::string& prompt =
      request.body.Find("messages")->AsArray()[1].Find("content")->AsString();
  constexpr std::string_view kMark = "Output schema: ";
  const size_t begin = prompt.find(kMark);
  if (begin == std::string::npos) return {.status = 400, .body = "no tool is described"};
  const size_t end = prompt.find('\n', begin);
  const Result<Json> schema =
      ParseJson(std::string_view(prompt).substr(begin + kMark.size(), end - begin - kMark.size()));
  if (!schema.ok()) return ChatServer::Says("\"something\"");
  Rng rng(Hash64(DumpJson(request.body, JsonStyle::kCanonical)));
  return ChatServer::Says(DumpJson(SampleFromSchema(*schema, &rng).value_or(Json())));
}

}  // namespace hone
