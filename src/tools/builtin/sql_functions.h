#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

struct sqlite3;

namespace hone {

// SQLite looks at its bounds between the steps of a query, and one call of a function is one step:
// printf can pad for minutes, and LIKE, GLOB, instr, replace and trim take as long as their
// arguments multiplied. These take their place in a connection: the same answers, but in time that
// grows with the arguments, and counted as the steps that they would be. What it costs: SQLite uses
// an index for LIKE 'abc%' and GLOB 'abc*' only with its own like and glob, so that with these such
// a query looks at every row. Where memory runs out the query fails with SQLITE_NOMEM.
class CountedSqlFunctions {
 public:
  // Counts this many steps; false: the query must end. Called from the connection's thread.
  using Charge = std::function<bool(int64_t steps)>;

  // The connection must be closed before this ends.
  CountedSqlFunctions(sqlite3* database, Charge charge, int max_value_bytes);
  ~CountedSqlFunctions();
  CountedSqlFunctions(const CountedSqlFunctions&) = delete;
  CountedSqlFunctions& operator=(const CountedSqlFunctions&) = delete;

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace hone
