#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/serve_batcher.h"
#include "app/serve_model.h"
#include "app/serve_record.h"
#include "app/serve_reply.h"
#include "app/serve_request.h"

namespace hone {

// What an answer is made with.
struct AnswerContext {
  const ServedModel* model = nullptr;
  ConversationRecorder* recorder = nullptr;  // null: nothing is recorded
  ReplyHead head;
  uint64_t seed = 0;       // of the request
  int64_t max_tokens = 0;  // of one completion at most
};

// A request on its way to being answered: what is to be drawn for it, and how the client is told of
// what was drawn, piece by piece or at the end. One thread.
class Answer {
 public:
  virtual ~Answer() = default;

  virtual const DrawSettings& settings() const = 0;
  // What is to be drawn, one turn per choice. Asked once.
  virtual std::vector<Batcher::Turn> Turns() = 0;

  // News of a turn; the events of a stream that tell it, "" when there is nothing to tell. After an
  // error the answer is over.
  virtual Result<std::string> Tell(const BatchTicket::News& news) = 0;
  // All turns have ended: what remains to be done before the client is told so, and the last events
  // of a stream.
  virtual Result<std::string> Finish() = 0;
  // The whole answer, after Finish.
  virtual Json Whole() const = 0;
};

// The errors are the request's.
Result<std::unique_ptr<Answer>> NewChatAnswer(const AnswerContext& context, ServedChat request);
Result<std::unique_ptr<Answer>> NewPlainAnswer(const AnswerContext& context, PlainRequest request);

// How many tokens may be drawn behind `prompt` tokens: what was asked for, `usual` when nothing
// was, but no more than the server gives and the model has positions. The error says that there is
// no room at all, and calls the prompt `name`, or that too many likeliest tokens are asked for.
Result<int64_t> RoomFor(const AnswerContext& context, const DrawSettings& settings,
                        std::string_view name, size_t prompt, int64_t usual);

// The stream of choice i of a request. The first one's is that of `hone generate` with this seed.
Rng ChoiceStream(uint64_t seed, int64_t choice);

void AppendDrawn(const SampleResult& fresh, SampleResult* drawn);

}  // namespace hone
