#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/recipe.h"
#include "base/result.h"
#include "tools/toolkit.h"

namespace hone {

// `sql` and `sql_schema`: questions to an SQLite file, which is never changed. One statement a
// call, limited in rows, in bytes and in work, not in seconds: the same query ends the same way on
// any machine. (Only steps that are slow one by one, on values of a megabyte, can outlast the time
// of the call; that too is the agent's error.)
struct SqlOptions {
  std::string file;
  std::string name;                  // of the file, for the agent: the path as the recipe has it
  int64_t max_rows = 100;            // of one result; more are left out and "truncated" is true
  int64_t max_result_bytes = 65536;  // of the rows, likewise
  int64_t max_steps = 20000000;      // of SQLite's virtual machine: about a second
  int64_t max_value_bytes = 1000000;
};
SqlOptions ReadSqlOptions(RecipeTable table);
Result<std::shared_ptr<Toolkit>> NewSqlToolkit(const SqlOptions& options);

}  // namespace hone
