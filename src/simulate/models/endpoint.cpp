#include "simulate/models/endpoint.h"

#include "simulate/models/endpoint_client.h"
#include "simulate/models/language_model.h"

namespace hone {
namespace {

class EndpointToolkit final : public Toolkit {
 public:
  explicit EndpointToolkit(EndpointClient client) : client_(std::move(client)) {}

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    return client_.Post(Body(arguments), limits, [](const EndpointClient::Choice& choice) {
      // A model that thought until the end has said nothing, and is paid for it.
      const Json* content = choice.message.Find("content");
      const bool silent = content == nullptr || content->is_null();
      if (!silent && !content->is_string()) {
        return Unavailable("the endpoint's completion has no text");
      }
      return Answered(CompleteAnswer(
          silent ? "" : content->AsString(), choice.cut,
          UsageOf(choice.answer.Find("usage"), "prompt_tokens", "completion_tokens")));
    });
  }

 private:
  Json Body(const Json& arguments) const {
    Json body = Json::Of({{"model", client_.model()},
                          {"messages", *arguments.Find("messages")},
                          {"temperature", *arguments.Find("temperature")},
                          {"max_tokens", *arguments.Find("max_tokens")},
                          {"seed", *arguments.Find("seed")}});
    if (*arguments.Find("json") == Json(true)) {
      body.Set("response_format", Json::Of({{"type", "json_object"}}));
    }
    return body;
  }

  const EndpointClient client_;
  const std::vector<ToolSpec> specs_ = {CompleteSpec()};
};

}  // namespace

Result<std::shared_ptr<Toolkit>> NewEndpointToolkit(const EndpointOptions& options) {
  HONE_ASSIGN_OR_RETURN(EndpointClient client, EndpointClient::New(options));
  return std::shared_ptr<Toolkit>(std::make_shared<EndpointToolkit>(std::move(client)));
}

}  // namespace hone
