#include "tools/spec_tool.h"

#include <fmt/format.h>

#include "tools/spec_file.h"

namespace hone {
namespace {

class SpecToolkit final : public Toolkit {
 public:
  explicit SpecToolkit(std::vector<ToolSpec> tools) : tools_(std::move(tools)) {}

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view tool, const Json&, Session*, const CallLimits&) override {
    ToolReply reply = Unavailable(fmt::format("no real tool behind {}; use a simulator", tool),
                                  Blame::kInfrastructure);
    reply.refused = true;
    return reply;
  }

 private:
  const std::vector<ToolSpec> tools_;
};

}  // namespace

SpecOptions ReadSpecOptions(RecipeTable table) {
  SpecOptions options;
  table.ReadPath("file", &options.file, "JSON file of function schemas", PathUse::kInput);
  if (options.file.empty()) table.Problem("file", "wants a JSON file of function schemas");
  return options;
}

Result<std::shared_ptr<Toolkit>> NewSpecToolkit(const SpecOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::vector<ToolSpec> tools, ReadSpecFile(options.file));
  return NewSpecToolkitOf(std::move(tools));
}

std::shared_ptr<Toolkit> NewSpecToolkitOf(std::vector<ToolSpec> tools) {
  return std::make_shared<SpecToolkit>(std::move(tools));
}

}  // namespace hone
