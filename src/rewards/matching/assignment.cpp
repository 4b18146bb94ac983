#include "rewards/matching/assignment.h"

#include <stddef.h>
#include <limits>

namespace hone {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The Hungarian method with potentials for at most as many rows as columns: rows enter one by one,
// each along the cheapest path that frees a column for it. Costs are the negated weights. Returns
// the row of every column, or -1.
std::vector<int32_t> RowOfColumn(const std::vector<std::vector<double>>& weights) {
  const size_t rows = weights.size(), columns = weights[0].size();
  // Index 0 stands for "none": rows and columns count from 1.
  std::vector<double> row_price(rows + 1, 0), column_price(columns + 1, 0);
  std::vector<size_t> row_of(columns + 1, 0), before(columns + 1, 0);
  for (size_t row = 1; row <= rows; ++row) {
    std::vector<double> distance(columns + 1, kInfinite);
    std::vector<bool> reached(columns + 1, false);
    size_t column = 0;
    row_of[0] = row;
    do {
      reached[column] = true;
      const size_t from = row_of[column];
      double step = kInfinite;
      size_t next = 0;
      for (size_t to = 1; to <= columns; ++to) {
        if (reached[to]) continue;
        const double reduced = -weights[from - 1][to - 1] - row_price[from] - column_price[to];
        if (reduced < distance[to]) {
          distance[to] = reduced;
          before[to] = column;
        }
        if (distance[to] < step) {
          step = distance[to];
          next = to;
        }
      }
      for (size_t to = 0; to <= columns; ++to) {
        if (reached[to]) {
          row_price[row_of[to]] += step;
          column_price[to] -= step;
        } else {
          distance[to] -= step;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<int32_t> result;
  for (size_t to = 1; to <= columns; ++to) {
    result.push_back(static_cast<int32_t>(row_of[to]) - 1);
  }
  return result;
}

}  // namespace

std::vector<int32_t> BestAssignment(const std::vector<std::vector<double>>& weights) {
  std::vector<int32_t> column_of(weights.size(), -1);
  if (weights.empty() || weights[0].empty()) return column_of;
  const size_t rows = weights.size(), columns = weights[0].size();
  if (rows <= columns) {
    const std::vector<int32_t> row_of = RowOfColumn(weights);
    for (size_t column = 0; column < columns; ++column) {
      if (row_of[column] >= 0) column_of[row_of[column]] = static_cast<int32_t>(column);
    }
  } else {
    std::vector<std::vector<double>> turned(columns, std::vector<double>(rows));
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column)
        turned[column][row] = weights[row][column];
    }
    column_of = RowOfColumn(turned);
  }
  for (size_t row = 0; row < rows; ++row) {
    if (column_of[row] >= 0 && weights[row][column_of[row]] <= 0) column_of[row] = -1;
  }
  return column_of;
}

}  // namespace hone
