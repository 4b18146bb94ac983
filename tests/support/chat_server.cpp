#include "support/chat_server.h"

namespace hone {

ChatServer::ChatServer(Handler handler)
    : handler_(std::move(handler)),
      server_([this](const LoopbackRequest& request) { return Answer(request); }) {}

std::string ChatServer::Answer(const LoopbackRequest& request) {
  if (request.path == "/v1/models") return LoopbackServer::Reply(200, "", R"({"data": []})");
  const int now = ++at_once_;
  for (int most = most_at_once_; now > most;) most_at_once_.compare_exchange_weak(most, now);
  const Result<Json> body = ParseJson(request.body);
  const Reply reply = handler_({.path = request.path,
                                .headers = request.headers,
                                .body = body.ok() ? *body : Json(),
                                .number = requests_++});
  --at_once_;
  return reply.hang ? "" : LoopbackServer::Reply(reply.status, reply.headers, reply.body);
}

ChatServer::Reply ChatServer::Says(const std::string& text, int prompt_tokens,
                                   int completion_tokens) {
  return {.body = DumpJson(Json::Of(
              {{"object", "chat.completion"},
               {"choices", Json::Array{Json::Of({{"index", 0},
                                                 {"finish_reason", "stop"},
                                                 {"message", Json::Of({{"role", "assistant"},
                                                                       {"content", text}})}})}},
               {"usage", Json::Of({{"prompt_tokens", prompt_tokens},
                                   {"completion_tokens", completion_tokens}})}}))};
}

}  // namespace hone
