#include "envs/study/study_tools.h"

#include <algorithm>
#include <thread>

#include "base/gate.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "tools/builtin/builtin.h"
#include "tools/builtin/python_tool.h"
#include "tools/builtin/search_index.h"
#include "tools/builtin/search_tool.h"
#include "tools/sandbox/sandbox.h"

namespace hone::study {
namespace {

// Each has an interpreter's memory.
constexpr int64_t kMostWorkers = 16;

constexpr char kSearchSpec[] = R"([{
  "name": "search",
  "description": "Searches the library for words and returns the best documents, one per line.",
  "parameters": {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "plain words"}},
    "required": ["query"],
    "additionalProperties": false
  },
  "x-hone": {"effect": "pure"}
}])";

constexpr char kPythonSpec[] = R"([{
  "name": "python",
  "description": "Runs Python 3 code and returns what it prints. Every call starts afresh.",
  "parameters": {
    "type": "object",
    "properties": {"code": {"type": "string", "description": "Python 3 source text"}},
    "required": ["code"],
    "additionalProperties": false
  },
  "x-hone": {"effect": "reads", "resource": "clock", "typical_latency_ms": 5}
}])";

class LibrarySearch final : public Toolkit {
 public:
  LibrarySearch(std::shared_ptr<const Library> library, std::unique_ptr<SearchIndex> index)
      : library_(std::move(library)), index_(std::move(index)), tools_(BuiltinSpecs(kSearchSpec)) {}

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    const std::string query = TextArgument(arguments, "query");
    if (QueryWords(query).empty()) return Refuted("the query has no words");
    // The index is for one thread.
    const Gate::Pass pass = gate_.Enter(limits.stop);
    if (!pass) return TimedOut("stopped while others searched");
    const auto hits = index_->Search(query, kPassages, /*snippet_words=*/0, limits.stop);
    if (!hits.ok()) return FromError(hits.error());
    if (hits->empty()) return Answered("nothing found");
    std::string lines;
    for (const SearchIndex::Hit& hit : *hits) {
      const std::string& text = library_->Document(hit.id).Find("text")->AsString();
      if (!lines.empty()) lines += '\n';
      lines += PassageLine(SearchOptions::Reply::kPassages, 1, hit.title, text);
    }
    return Answered(std::move(lines));
  }

 private:
  const std::shared_ptr<const Library> library_;
  const std::unique_ptr<SearchIndex> index_;
  const std::vector<ToolSpec> tools_;
  Gate gate_{1};
};

PythonOptions ShortCode() {
  PythonOptions options;
  options.timeout_ms = 2000;
  options.memory_mb = 256;
  options.max_output_bytes = 4096;
  // Every character is a token of the agent's context.
  options.last_line_of_errors = true;
  options.max_reply_chars = 200;
  options.scratch_mb = 8;
  options.workers = std::clamp<int64_t>(std::thread::hardware_concurrency(), 2, kMostWorkers);
  return options;
}

class StudyPython final : public Toolkit {
 public:
  explicit StudyPython(const std::string& name) : tools_(BuiltinSpecs(kPythonSpec)) {
    tools_[0].name = name;
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    const auto python = Started();
    if (!python.ok()) return Unavailable(python.error().message(), Blame::kInfrastructure);
    ToolReply reply = (*python)->Call("python", arguments, nullptr, limits);
    reply.content = Trim(reply.content);
    return reply;
  }

 private:
  Result<std::shared_ptr<Toolkit>> Started() {
    const MutexLock lock(mutex_);
    if (python_ == nullptr) {
      HONE_ASSIGN_OR_RETURN(python_, NewPythonToolkit(ShortCode()));
    }
    return python_;
  }

  std::vector<ToolSpec> tools_;
  Mutex mutex_;
  std::shared_ptr<Toolkit> python_ HONE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::shared_ptr<Toolkit>> NewLibrarySearch(std::shared_ptr<const Library> library) {
  HONE_ASSIGN_OR_RETURN(auto index,
                        SearchIndex::Of(library->documents(), {"title", "title", "title", "text"}));
  return std::shared_ptr<Toolkit>(
      std::make_shared<LibrarySearch>(std::move(library), std::move(index)));
}

Result<std::shared_ptr<Toolkit>> NewStudyPython(const std::string& name) {
  HONE_RETURN_IF_ERROR(Sandbox::New({}));
  return std::shared_ptr<Toolkit>(std::make_shared<StudyPython>(name));
}

}  // namespace hone::study
