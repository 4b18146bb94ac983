#include "tools/builtin/sql_tool.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "support/patience.h"
#include "tools/builtin/bounded_sqlite.h"

namespace hone {
namespace {

class SqlToolTest : public ::testing::Test {
 protected:
  SqlToolTest() : file_(folder_.path() / "shop #1?.sqlite") {
    auto database = *BoundedDatabase::Create(file_);
    EXPECT_TRUE(database
                    ->Execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL);"
                              "INSERT INTO item VALUES (1, 'pear', 0.5), (2, 'fig', NULL);"
                              "CREATE VIEW cheap AS SELECT * FROM item WHERE price < 1;")
                    .ok());
  }

  ToolReply Ask(const std::string& query, CallLimits limits = {}) {
    SqlOptions options;
    options.file = file_.string();
    options.max_rows = 5;
    auto toolkit = NewSqlToolkit(options);
    EXPECT_TRUE(toolkit.ok()) << toolkit.error().message();
    return (*toolkit)->Call("sql", Json::Of({{"query", query}}), nullptr, limits);
  }

  TemporaryDirectory folder_;
  std::filesystem::path file_;
};

TEST_F(SqlToolTest, ReturnsColumnsAndRows) {
  EXPECT_EQ(Ask("SELECT *, x'0aff' AS bytes FROM item ORDER BY id; -- all").content,
            R"({"columns":["id","name","price","bytes"],"rows":[[1,"pear",0.5,"0x0aff"],)"
            R"([2,"fig",null,"0x0aff"]],"truncated":false})");
  EXPECT_EQ(Ask("SELECT count(*) AS n FROM cheap").content,
            R"({"columns":["n"],"rows":[[1]],"truncated":false})");
  EXPECT_EQ(Ask("SELECT CAST(x'ff41' AS TEXT), 9e999").content,
            "{\"columns\":[\"CAST(x'ff41' AS TEXT)\",\"9e999\"],\"rows\":[[\"\xEF\xBF\xBD"
            "A\",null]],\"truncated\":false}");
}

TEST_F(SqlToolTest, RowsAndBytesBeyondTheLimitAreLeftOutAndItSaysSo) {
  const std::string counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n ";
  EXPECT_EQ(Ask(counting + "LIMIT 5) SELECT i FROM n").content,
            R"({"columns":["i"],"rows":[[1],[2],[3],[4],[5]],"truncated":false})");
  EXPECT_EQ(Ask(counting + ") SELECT i FROM n").content,
            R"({"columns":["i"],"rows":[[1],[2],[3],[4],[5]],"truncated":true})");
  EXPECT_EQ(Ask("SELECT hex(zeroblob(50000)) AS x").content,
            R"({"columns":["x"],"rows":[],"truncated":true})");
}

TEST_F(SqlToolTest, MistakesAreTheAgentsAndSaidInTheDatabasesWords) {
  const ToolReply reply = Ask("SELECT nme FROM item");
  EXPECT_EQ(reply.status, CallStatus::kToolError);
  EXPECT_EQ(reply.blame, Blame::kAgent);
  EXPECT_EQ(reply.content, "no such column: nme");
  for (const char* query : {"", " -- nothing", "SELEC 1", "SELECT 'a", "SELECT 1; SELECT 2",
                            "SELECT 1; DROP TABLE item", "SELECT ?1; x"}) {
    EXPECT_EQ(Ask(query).status, CallStatus::kToolError) << query;
  }
  EXPECT_EQ(Ask(std::string("SELECT 1\0; x", 12)).status, CallStatus::kToolError);
}

TEST_F(SqlToolTest, NothingIsWrittenAndNothingElseIsReached) {
  const std::string before = *ReadFile(file_);
  const std::string other = (folder_.path() / "other.sqlite").string();
  const std::vector<std::string> attempts = {
      "INSERT INTO item VALUES (3, 'x', 1)",
      "UPDATE item SET price = 0",
      "DELETE FROM item",
      "DROP TABLE item",
      "CREATE TABLE t (x)",
      "CREATE TEMP TABLE t (x)",
      "CREATE TEMP VIEW v AS SELECT 1",
      "CREATE VIRTUAL TABLE temp.f USING fts5(x)",
      "ATTACH '" + other + "' AS o",
      "VACUUM",
      "VACUUM INTO '" + other + "'",
      "BEGIN IMMEDIATE",
      "SAVEPOINT s",
      "REINDEX",
      "ANALYZE",
      "PRAGMA journal_mode = WAL",
      "PRAGMA user_version = 7",
      "PRAGMA writable_schema = ON",
      "PRAGMA temp_store_directory = '/'",
      "PRAGMA query_only = OFF",
      "PRAGMA database_list",
      "SELECT * FROM pragma_database_list",
      "SELECT load_extension('x')",
      "SELECT readfile('/etc/passwd')",
      "SELECT writefile('" + other + "', 'x')",
      "SELECT edit('x')",
      "SELECT fts3_tokenizer('simple')",
      "SELECT * FROM fsdir('/')",
      "SELECT random()",
      "SELECT RANDOMBLOB(4)",
      "WITH x AS (SELECT 1) INSERT INTO item SELECT 9, 'a', 1 FROM x",
      "EXPLAIN DELETE FROM item",
      "UPDATE sqlite_master SET sql = ''",
  };
  for (const std::string& query : attempts) {
    const ToolReply reply = Ask(query);
    EXPECT_EQ(reply.status, CallStatus::kToolError) << query << " -> " << reply.content;
    EXPECT_EQ(reply.content.find("root:"), std::string::npos);
  }
  EXPECT_EQ(*ReadFile(file_), before);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(entry.path(), file_);
    ++files;
  }
  EXPECT_EQ(files, 1);
  EXPECT_EQ(Ask("SELECT name FROM pragma_table_info('item') LIMIT 1").content,
            R"({"columns":["name"],"rows":[["id"]],"truncated":false})");
  EXPECT_EQ(Ask("PRAGMA table_info(item)").status, CallStatus::kOk);
}

TEST_F(SqlToolTest, EndlessAndHugeQueriesEnd) {
  const ToolReply endless =
      Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT sum(i) FROM n");
  EXPECT_EQ(endless.status, CallStatus::kToolError);
  EXPECT_NE(endless.content.find("too much work"), std::string::npos) << endless.content;
  EXPECT_EQ(Ask("SELECT zeroblob(2000000000)").content, "string or blob too big");
  EXPECT_EQ(Ask("SELECT hex(zeroblob(900000)) || hex(zeroblob(900000))").status,
            CallStatus::kToolError);
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i) deep = "(" + deep + ")";
  EXPECT_EQ(Ask("SELECT " + deep).status, CallStatus::kToolError);
}

// One call of a function is one step of SQLite's, and nothing can end it.
TEST_F(SqlToolTest, NoFunctionKeepsItBusy) {
  const std::string a = "hex(zeroblob(400000))", b = "hex(zeroblob(40000))";
  for (const std::string& call : {
           std::string("printf('%.*c', 2000000000, 'x')"),
           std::string("format('%2000000000d', 1)"),
           std::string("printf('%.999999999f', 1.0)"),
           "instr(" + a + ", " + b + " || '1')",
           "replace(" + a + ", " + b + " || '1', '')",
           "trim(" + a + ", replace(" + b + ", '0', '1') || '0')",
           a + " LIKE '%' || " + b + " || '1'",
           a + " GLOB '*' || replace(" + b + ", '0', '[a-z0]') || '1'",
           std::string("json_patch('{\"a\":1}', '{\"b\":1}')"),
       }) {
    std::string query = "SELECT " + call;
    for (int i = 0; i < 200; ++i) query += ", " + call;
    const auto begun = std::chrono::steady_clock::now();
    const ToolReply reply = Ask(query);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, kPatience * std::chrono::seconds(10))
        << call;
    if (reply.status == CallStatus::kOk) continue;
    EXPECT_EQ(reply.status, CallStatus::kToolError) << call;
    EXPECT_EQ(reply.blame, Blame::kAgent) << call;
  }
}

TEST_F(SqlToolTest, AQueryOfSlowStepsIsTheAgentsError) {
  const ToolReply reply =
      Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
          "SELECT sum(length(hex(zeroblob(400000 + i % 2)))) FROM n",
          {.time = std::chrono::milliseconds(100), .stop = {}});
  EXPECT_EQ(reply.status, CallStatus::kToolError) << reply.content;
  EXPECT_EQ(reply.blame, Blame::kAgent);
  EXPECT_NE(reply.content.find("too much work: more than 90 ms"), std::string::npos);
}

TEST_F(SqlToolTest, AFullTextTableInTheFileCanBeAsked) {
  (void)std::filesystem::remove(file_);
  ASSERT_TRUE((*BoundedDatabase::Create(file_))
                  ->Execute("CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('a b')")
                  .ok());
  EXPECT_EQ(Ask("SELECT x FROM f WHERE f MATCH 'b'").content,
            R"({"columns":["x"],"rows":[["a b"]],"truncated":false})");
}

TEST_F(SqlToolTest, AStopEndsAQuery) {
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  const ToolReply reply =
      Ask("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT sum(i) FROM n",
          {.stop = stop.get_token()});
  EXPECT_EQ(reply.status, CallStatus::kTimeout) << reply.content;
}

TEST_F(SqlToolTest, TheSchemaIsListed) {
  const auto toolkit = *NewSqlToolkit({.file = file_.string()});
  EXPECT_EQ(toolkit->tools()[0].resource, file_.string());
  EXPECT_EQ(
      toolkit->Call("sql_schema", Json::Of({}), nullptr, {}).content,
      R"([{"name":"cheap","type":"view","columns":[{"name":"id","type":"INTEGER"},)"
      R"({"name":"name","type":"TEXT"},{"name":"price","type":"REAL"}]},)"
      R"({"name":"item","type":"table","columns":[{"name":"id","type":"INTEGER",)"
      R"("primary_key":true},{"name":"name","type":"TEXT"},{"name":"price","type":"REAL"}]}])");
}

TEST_F(SqlToolTest, AFileThatIsMissingOrNoDatabaseIsFoundBeforeTheRun) {
  EXPECT_EQ(NewSqlToolkit({.file = "/nowhere/x.sqlite"}).error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomic(folder_.path() / "text", std::string(5000, 'x')).ok());
  EXPECT_EQ(NewSqlToolkit({.file = (folder_.path() / "text").string()}).error().code(),
            ErrorCode::kInvalidArgument);
  const auto toolkit = *NewSqlToolkit({.file = file_.string()});
  std::filesystem::remove(file_);
  EXPECT_EQ(toolkit->Call("sql", Json::Of({{"query", "SELECT 1"}}), nullptr, {}).status,
            CallStatus::kUnavailable);
}

TEST(SqlTool, OptionsAreReadAndChecked) {
  auto recipe = Recipe::Parse("max_rows = 0", "tools.toml");
  (void)ReadSqlOptions(recipe->Root());
  const std::string message = recipe->Finish().error().message();
  EXPECT_NE(message.find("SQLite file"), std::string::npos) << message;
  EXPECT_NE(message.find("max_rows"), std::string::npos) << message;
}

}  // namespace
}  // namespace hone
