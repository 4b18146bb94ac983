#include "tools/prefixed.h"

namespace hone {
namespace {

class PrefixedToolkit final : public Toolkit {
 public:
  PrefixedToolkit(std::shared_ptr<Toolkit> toolkit, std::string prefix)
      : toolkit_(std::move(toolkit)), prefix_(std::move(prefix)), specs_(toolkit_->tools()) {
    for (ToolSpec& spec : specs_) spec.name = prefix_ + spec.name;
  }

  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return toolkit_->sharing(); }
  int64_t sessions_at_once() const override { return toolkit_->sessions_at_once(); }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override { return toolkit_->Open(seed); }
  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits& limits) override {
    return toolkit_->Call(tool.substr(prefix_.size()), arguments, session, limits);
  }

 private:
  const std::shared_ptr<Toolkit> toolkit_;
  const std::string prefix_;
  std::vector<ToolSpec> specs_;
};

}  // namespace

std::shared_ptr<Toolkit> WithPrefix(std::shared_ptr<Toolkit> toolkit, std::string prefix) {
  if (prefix.empty()) return toolkit;
  return std::make_shared<PrefixedToolkit>(std::move(toolkit), std::move(prefix));
}

}  // namespace hone
