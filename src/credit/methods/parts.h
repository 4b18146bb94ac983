#pragma once

#include "credit/method.h"
#include "credit/method_options.h"

// What many methods are made of.

namespace hone::methods {

using Values = std::function<UnitValues(const Group&)>;

// Setting "terms": the names of the outcome.
Selection OutcomeTerms(MethodOptions* options);
// Setting "calls": the names of what calls earn.
Selection CallTerms(MethodOptions* options);
// Setting "alone": what a group of one gets, raw or zero.
Alone AloneOf(MethodOptions* options, Alone otherwise);

// The trajectory's outcome.
Values OutcomeSum(Selection outcome);

// The group's mean off, divided by the group's deviation: GRPO's normaliser.
Normaliser MeanAndDeviation(Alone alone);

// One channel "outcome" on all tokens, with the setting "terms".
Method OutcomeOnly(MethodOptions* options, const Normaliser& normaliser);

// Trajectories whose outcome is above the setting "correct_above" (0.5).
using IsRight = std::function<bool(const Group&, const Trajectory&)>;
IsRight CorrectOnly(MethodOptions* options, Selection outcome);

// Whether all of them are what single calls earn.
bool StandOnCalls(const Selection& terms);

// The method reads the outcome and these terms, and needs both.
void ReadBoth(const Selection& outcome, const TermNeed& more, Method* method);

// Setting "norm" of ToolPO. The paper subtracts means only. Where outcome and calls are paid on
// scales of their own, dividing each channel by its deviation in the group (mean_std) gives both
// the same say.
void ReadNorm(MethodOptions* options, Method* method);
// Setting "thoughts". With yes, what is said of the tokens of actions holds for the thoughts right
// before them, in every channel: they are credited as the calls that they led to.
void ReadThoughts(MethodOptions* options, Method* method);

// GRPO's normalisation of one number per trajectory where they are not written by a channel.
// Absent stays absent.
UnitValues GroupNormalised(UnitValues values, const Normaliser& normaliser, bool alone_group);

}  // namespace hone::methods
