#include "tools/builtin/files_tool.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/utf8.h"
#include "tools/builtin/builtin.h"

namespace hone {
namespace {

constexpr char kFilesSpecs[] = R"([{
  "name": "read_file",
  "description": "Returns the text of a file of the workspace, or some of its lines.",
  "parameters": {"type": "object", "properties": {
      "path": {"type": "string", "minLength": 1, "description": "relative, like notes/a.txt"},
      "first_line": {"type": "integer", "minimum": 1, "description": "counted from 1"},
      "lines": {"type": "integer", "minimum": 1, "description": "how many at most"}},
    "required": ["path"], "additionalProperties": false},
  "x-hone": {"effect": "reads", "resource": "session"}
}, {
  "name": "write_file",
  "description": "Writes a text file of the workspace, replacing what it held. Folders are created as needed.",
  "parameters": {"type": "object", "properties": {
      "path": {"type": "string", "minLength": 1}, "content": {"type": "string"}},
    "required": ["path", "content"], "additionalProperties": false},
  "x-hone": {"effect": "writes", "resource": "session"}
}, {
  "name": "append_file",
  "description": "Adds text at the end of a file of the workspace, which is created if it is not there.",
  "parameters": {"type": "object", "properties": {
      "path": {"type": "string", "minLength": 1}, "content": {"type": "string"}},
    "required": ["path", "content"], "additionalProperties": false},
  "x-hone": {"effect": "writes", "resource": "session"}
}, {
  "name": "list_files",
  "description": "Lists the files of the workspace, or of one of its folders, with their sizes in bytes.",
  "parameters": {"type": "object", "properties": {
      "path": {"type": "string", "description": "a folder; everything when left out"}},
    "additionalProperties": false},
  "x-hone": {"effect": "reads", "resource": "session",
             "output": {"type": "array", "items": {"type": "object"}}}
}, {
  "name": "move_file",
  "description": "Moves a file of the workspace to another path where nothing is.",
  "parameters": {"type": "object", "properties": {
      "from": {"type": "string", "minLength": 1}, "to": {"type": "string", "minLength": 1}},
    "required": ["from", "to"], "additionalProperties": false},
  "x-hone": {"effect": "writes", "resource": "session"}
}, {
  "name": "delete_file",
  "description": "Deletes a file of the workspace, or an empty folder.",
  "parameters": {"type": "object", "properties": {"path": {"type": "string", "minLength": 1}},
    "required": ["path"], "additionalProperties": false},
  "x-hone": {"effect": "writes", "resource": "session"}
}])";

class FilesSession final : public Session {
 public:
  explicit FilesSession(std::unique_ptr<ScratchFolder> own) : folder(std::move(own)) {}
  Result<std::unique_ptr<Session>> Clone() override {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<ScratchFolder> copy, folder->Clone());
    return std::unique_ptr<Session>(std::make_unique<FilesSession>(std::move(copy)));
  }

  const std::unique_ptr<ScratchFolder> folder;
};

// What the operating system refuses is not the agent's fault; a wrong path or no room is.
ToolReply Failed(const Error& error) {
  return error.code() == ErrorCode::kIo ? Unavailable(error.message(), Blame::kInfrastructure)
                                        : Refuted(error.message());
}

ToolReply Done(const Result<void>& result, std::string text) {
  return result.ok() ? Answered(std::move(text)) : Failed(result.error());
}

// Lines first to first + count - 1, counted from 1, each with its end.
std::string_view SomeLines(std::string_view text, int64_t first, int64_t count) {
  size_t begin = 0;
  for (int64_t line = 1; line < first && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  size_t end = begin;
  for (int64_t line = 0; line < count && end < text.size(); ++line) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(begin, end - begin);
}

class FilesToolkit final : public Toolkit {
 public:
  explicit FilesToolkit(const FilesOptions& options) : options_(options) {}

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kClone; }

  Result<std::unique_ptr<Session>> Open(uint64_t) override {
    HONE_ASSIGN_OR_RETURN(auto folder, ScratchFolder::New(options_.limits));
    if (!options_.initial.empty()) HONE_RETURN_IF_ERROR(folder->CopyFrom(options_.initial));
    return std::unique_ptr<Session>(std::make_unique<FilesSession>(std::move(folder)));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits&) override {
    CHECK(session != nullptr, "a session of another toolkit");
    ScratchFolder& folder = *static_cast<FilesSession*>(session)->folder;
    const std::string path = TextArgument(arguments, "path");
    const std::string content = TextArgument(arguments, "content");
    if (tool == "read_file") return Read(folder, path, arguments);
    if (tool == "list_files") return List(folder, path);
    if (tool == "write_file") {
      return Done(folder.Write(path, content), fmt::format("wrote {} bytes", content.size()));
    }
    if (tool == "append_file") {
      return Done(folder.Append(path, content), fmt::format("added {} bytes", content.size()));
    }
    if (tool == "move_file") {
      return Done(folder.Move(TextArgument(arguments, "from"), TextArgument(arguments, "to")),
                  "moved");
    }
    return Done(folder.Remove(path), "deleted");
  }

 private:
  static ToolReply Read(const ScratchFolder& folder, const std::string& path,
                        const Json& arguments) {
    const Result<std::string> content = folder.Read(path);
    if (!content.ok()) return Failed(content.error());
    if (!IsUtf8(*content)) {
      return Refuted(fmt::format("\"{}\": is not text ({} bytes)", path, content->size()));
    }
    const int64_t first = IntegerArgument(arguments, "first_line", 1);
    const int64_t count = IntegerArgument(arguments, "lines", std::numeric_limits<int64_t>::max());
    return Answered(std::string(SomeLines(*content, first, count)));
  }

  static ToolReply List(const ScratchFolder& folder, const std::string& path) {
    const Result<std::vector<ScratchFolder::Entry>> entries = folder.List(path);
    if (!entries.ok()) return Failed(entries.error());
    Json::Array list;
    for (const ScratchFolder::Entry& entry : *entries) {
      list.push_back(entry.folder
                         ? Json::Of({{"path", Utf8Lossy(entry.path) + "/"}})
                         : Json::Of({{"path", Utf8Lossy(entry.path)}, {"bytes", entry.bytes}}));
    }
    return Answered(DumpJson(Json(std::move(list))));
  }

  const FilesOptions options_;
  const std::vector<ToolSpec> tools_ = BuiltinSpecs(kFilesSpecs);
};

}  // namespace

FilesOptions ReadFilesOptions(RecipeTable table) {
  FilesOptions options;
  table.ReadPath("initial", &options.initial, "folder of files every workspace begins with",
                 PathUse::kPlace);
  table.Read("max_bytes", &options.limits.bytes, "of all files together", AtLeast(0));
  table.Read("max_file_bytes", &options.limits.file_bytes, "of one file", AtLeast(0));
  table.Read("max_files", &options.limits.files, "files and folders", Between(0, 100000));
  table.Read("max_depth", &options.limits.depth, "parts of a path", Between(1, 64));
  return options;
}

Result<std::shared_ptr<Toolkit>> NewFilesToolkit(const FilesOptions& options) {
  auto toolkit = std::make_shared<FilesToolkit>(options);
  // A first workspace shows whether the initial files are there and fit.
  const auto tried = toolkit->Open(0);
  if (!tried.ok()) return tried.error().In("initial files of the workspace");
  return std::shared_ptr<Toolkit>(toolkit);
}

}  // namespace hone
