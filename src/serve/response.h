#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/batcher.h"
#include "serve/conversation_recorder.h"
#include "serve/reply_json.h"
#include "serve/request.h"
#include "serve/served_model.h"
#include "text/call_format.h"

namespace hone {

// What a response is made with.
struct ResponseContext {
  const ServedModel* model = nullptr;
  ConversationRecorder* recorder = nullptr;  // null: nothing is recorded
  ReplyHead head;
  uint64_t seed = 0;       // of the request
  int64_t max_tokens = 0;  // of one completion at most
  // After which a chat's thought is closed; a request may ask for fewer. Absent: no limit.
  std::optional<int64_t> thought_tokens = {};
  // Told of turns that look like a call in a format that the dialect does not read, where tools
  // were offered.
  std::function<void(const UnreadCall&)> unread = {};
};

// A request on its way to being answered: what is to be drawn for it, and how the client is told of
// what was drawn, piece by piece or at the end. One thread.
class Response {
 public:
  virtual ~Response() = default;

  virtual const DrawOptions& settings() const = 0;
  // What is to be drawn, one turn per choice. Asked once.
  virtual std::vector<Batcher::Turn> Turns() = 0;

  // News of a turn; the events of a stream that tell it, "" when there is nothing to tell. After an
  // error the response is over.
  virtual Result<std::string> Tell(const BatchTicket::News& news) = 0;
  // All turns have ended: what remains to be done before the client is told so, and the last events
  // of a stream, with what ends it.
  virtual Result<std::string> Finish() = 0;
  // The whole response, after Finish.
  virtual Json Whole() const = 0;
};

// How streams of completions end.
inline constexpr std::string_view kStreamEnd = "data: [DONE]\n\n";

// The errors are the request's.
Result<std::unique_ptr<Response>> NewChatResponse(const ResponseContext& context,
                                                  ServedChat request);
// POST /v1/responses; the request is what it asks for as a chat, `asked` the body as it was sent.
Result<std::unique_ptr<Response>> NewModelResponse(const ResponseContext& context,
                                                   ServedChat request, Json asked);
Result<std::unique_ptr<Response>> NewPlainResponse(const ResponseContext& context,
                                                   PlainRequest request);

// How many tokens may be drawn behind `prompt` tokens: what was asked for, `usual` when nothing
// was, but no more than the server gives and the model has positions. The error says that there is
// no room at all, and calls the prompt `name`, or that too many likeliest tokens are asked for.
Result<int64_t> RoomFor(const ResponseContext& context, const DrawOptions& settings,
                        std::string_view name, size_t prompt, int64_t usual);

// The stream of choice i of a request. The first one's is that of `hone generate` with this seed.
Rng ChoiceStream(uint64_t seed, int64_t choice);

void AppendDrawn(const SampleResult& fresh, SampleResult* drawn);

}  // namespace hone
