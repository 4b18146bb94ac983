#include "tools/builtin/sql_tool.h"

#include <fmt/format.h>

#include "tools/builtin/bounded_sqlite.h"
#include "tools/builtin/builtin.h"

namespace hone {
namespace {

constexpr char kSqlSpecs[] = R"([{
  "name": "sql",
  "description": "Runs one read-only SQLite query (SELECT or WITH) and returns {columns, rows, truncated}.",
  "parameters": {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1, "maxLength": 100000}},
    "required": ["query"],
    "additionalProperties": false
  },
  "x-hone": {"effect": "reads", "output": {
    "type": "object",
    "properties": {"columns": {"type": "array", "items": {"type": "string"}},
                   "rows": {"type": "array", "items": {"type": "array"}},
                   "truncated": {"type": "boolean"}},
    "required": ["columns", "rows", "truncated"]}}
}, {
  "name": "sql_schema",
  "description": "Lists the tables and views of the database with their columns.",
  "parameters": {"type": "object", "properties": {}, "additionalProperties": false},
  "x-hone": {"effect": "reads", "output": {"type": "array", "items": {"type": "object"}}}
}])";

class SqlToolkit final : public Toolkit {
 public:
  explicit SqlToolkit(const SqlOptions& options) : options_(options) {
    // The agent reads it, so it must not change with the place that the recipe is read at.
    for (ToolSpec& spec : tools_) {
      spec.resource = options.name.empty() ? options.file : options.name;
    }
  }

  const std::vector<ToolSpec>& tools() const override { return tools_; }
  Sharing sharing() const override { return Sharing::kNothing; }
  Result<std::unique_ptr<Session>> Open(uint64_t) override { return std::unique_ptr<Session>(); }

  ToolReply Call(std::string_view tool, const Json& arguments, Session*,
                 const CallLimits& limits) override {
    // A connection per call costs a tenth of a millisecond and shares nothing between threads.
    Result<std::unique_ptr<BoundedDatabase>> database = BoundedDatabase::OpenToRead(options_.file);
    if (!database.ok()) return FromError(database.error());
    // What is not done shortly before the time is over is the query's fault, not the tool's: a file
    // on this machine keeps nobody waiting.
    (*database)->Bound(
        {.steps = options_.max_steps, .stop = limits.stop, .time = limits.time * 9 / 10});
    if (tool == "sql_schema") return Schema(database->get());
    (*database)->Confine(options_.max_value_bytes);
    return Query(database->get(), TextArgument(arguments, "query"));
  }

 private:
  static ToolReply Failed(const BoundedDatabase& database) {
    return database.Stopped() ? TimedOut(database.Message()) : Refuted(database.Message());
  }

  ToolReply Query(BoundedDatabase* database, const std::string& query) const {
    // SQLite would end the text there, and run what stands before.
    if (query.find('\0') != std::string::npos) return Refuted("a query has no NUL characters");
    BoundedStatement statement(database, query);
    if (statement.failed()) return Failed(*database);
    if (statement.empty()) return Refuted("the query is empty");
    const BoundedStatement second(database, statement.rest());
    if (second.failed() || !second.empty()) {
      return Refuted("one statement at a time: nothing may stand behind the first \";\"");
    }
    if (!statement.ReadOnly() || statement.columns() == 0) {
      return Refuted("the database may only be read: SELECT or WITH");
    }

    Json::Array names;
    for (int i = 0; i < statement.columns(); ++i) names.emplace_back(statement.ColumnName(i));
    Json::Array rows;
    bool truncated = false;
    int64_t bytes = 0;
    while (statement.Step()) {
      Json::Array row;
      for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.Value(i));
      bytes += static_cast<int64_t>(DumpJson(Json(row)).size());
      truncated = static_cast<int64_t>(rows.size()) >= options_.max_rows ||
                  bytes > options_.max_result_bytes;
      if (truncated) break;
      rows.emplace_back(std::move(row));
    }
    if (statement.failed()) return Failed(*database);
    return Answered(DumpJson(Json::Of(
        {{"columns", std::move(names)}, {"rows", std::move(rows)}, {"truncated", truncated}})));
  }

  static ToolReply Schema(BoundedDatabase* database) {
    BoundedStatement tables(database,
                            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
                            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
    BoundedStatement columns(database,
                             "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid");
    Json::Array list;
    while (tables.Step()) {
      const std::string name = tables.Text(0);
      Json::Array fields;
      columns.Bind(name);
      while (columns.Step()) {
        Json field = Json::Of({{"name", columns.Text(0)}, {"type", columns.Text(1)}});
        if (columns.Integer(2) > 0) field.Set("primary_key", true);
        fields.push_back(std::move(field));
      }
      if (columns.failed()) return Failed(*database);
      columns.Reset();
      list.push_back(
          Json::Of({{"name", name}, {"type", tables.Text(1)}, {"columns", std::move(fields)}}));
    }
    return tables.failed() ? Failed(*database) : Answered(DumpJson(Json(std::move(list))));
  }

  const SqlOptions options_;
  std::vector<ToolSpec> tools_ = BuiltinSpecs(kSqlSpecs);
};

}  // namespace

SqlOptions ReadSqlOptions(RecipeTable table) {
  SqlOptions options;
  table.Read("file", &options.name, "SQLite file");
  if (!options.name.empty()) options.file = table.PathAt("file", options.name, PathUse::kPlace);
  table.Read("max_rows", &options.max_rows, "of one result", Between(1, 1000000));
  table.Read("max_result_bytes", &options.max_result_bytes, "of one result", Between(100, 1 << 30));
  table.Read("max_steps", &options.max_steps, "of SQLite's virtual machine", AtLeast(1000));
  table.Read("max_value_bytes", &options.max_value_bytes, "of one value", Between(1000, 1 << 30));
  if (options.file.empty()) table.Problem("file", "wants an SQLite file");
  return options;
}

Result<std::shared_ptr<Toolkit>> NewSqlToolkit(const SqlOptions& options) {
  // So that a wrong file is found before the run.
  HONE_RETURN_IF_ERROR(BoundedDatabase::OpenToRead(options.file));
  return std::shared_ptr<Toolkit>(std::make_shared<SqlToolkit>(options));
}

}  // namespace hone
