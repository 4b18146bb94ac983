#pragma once

#include <cstdio>
#include <istream>
#include <memory>
#include <ostream>

#include "app/terminal.h"
#include "envs/play.h"

namespace hone {

// A person as the agent: shows what there is to see and reads one line per turn. A line is a call,
// `weather {"city": "Oslo", "day": "Mon"}`, or an answer; a call whose JSON cannot be read goes to
// the environment as such. An empty line is an empty turn; the end of the input is leaving. The
// streams must outlive it.
std::unique_ptr<Agent> NewPerson(const Environment& environment, const Terminal& terminal,
                                 std::istream* in, std::ostream* out);

// What one line means.
AgentTurn TurnFromLine(const Environment& environment, std::string_view line);

// A whole episode that somebody else played: what was said, called and answered, and the end.
std::string EpisodeView(const Playthrough& played, const Terminal& terminal);

// What became of the last turn, and the end.
std::string EndView(const Playthrough& played, const Terminal& terminal);

}  // namespace hone
