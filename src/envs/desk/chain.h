#pragma once

#include <cstdint>

#include "envs/desk/draft.h"

namespace hone::desk {

// The longest chain: its episode is 300 tokens of a desk model.
inline constexpr int64_t kMaxChain = 16;

// A request whose plan is a chain of exactly `length` calls, each of which needs what the one
// before it returned:
//
//   1  weather     the sky in a city on a day
//   2  contact, weather     where somebody lives
//   3  and then calculator     something is added to the temp
//   4  and then convert     from one unit to another
//   ... calculator and convert in turns.
//
// No step can be left out or joined with another: a conversion rounds, and the calculator does not
// convert. Which split a task belongs to is decided by the city and the day whose weather it needs:
// names, cities, days and units by themselves are in all of them, or an agent that has seen nothing
// but chains could not spell what it is asked about. False as Kind::write is: to be drawn again.
bool WriteChain(int64_t length, Draft* draft);

}  // namespace hone::desk
