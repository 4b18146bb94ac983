#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "credit/methods.h"
#include "credit/short_form.h"

// Groups for tests, spelled in the short form.

namespace hone {

inline ShortGroup GroupFrom(const std::string& json) {
  const Result<Json> parsed = ParseJson(json);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message()) << json;
  Result<ShortGroup> group = ReadShortForm(*parsed);
  EXPECT_TRUE(group.ok()) << (group.ok() ? "" : group.error().message());
  return group.ok() ? std::move(group).value() : ShortGroup();
}

// A member with an outcome and one turn of `tokens` plain tokens.
inline std::string Plain(const std::string& outcome, int tokens = 2) {
  return "{\"terms\":{\"outcome\":" + outcome +
         "},\"turns\":[{\"tokens\":" + std::to_string(tokens) + "}]}";
}

inline std::string GroupOfPlain(const std::vector<std::string>& outcomes) {
  std::string text;
  for (const std::string& outcome : outcomes) text += (text.empty() ? "" : ",") + Plain(outcome);
  return "{\"group\":[" + text + "]}";
}

// The method in a form that reads outcomes, for groups that have nothing else.
inline std::string ReadingOutcomes(const std::string& spec) {
  if (!spec.starts_with("cm2")) return spec;
  return spec + (spec.find(':') == spec.npos ? ":" : ",") + "terms=criterion:*+outcome";
}

inline Credit CreditOf(const std::string& spec, const ShortGroup& group, bool layers = false) {
  const Result<Method> method = NewMethod(spec);
  EXPECT_TRUE(method.ok()) << (method.ok() ? "" : method.error().message());
  if (!method.ok()) return {};
  const CreditInput input{&group.record, group.has_values ? &group.values : nullptr};
  auto credits = AssignCredit(*method, {&input, 1}, {layers});
  EXPECT_TRUE(credits.ok()) << (credits.ok() ? "" : credits.error().message());
  return credits.ok() ? std::move((*credits)[0]) : Credit();
}

inline Credit CreditOf(const std::string& spec, const std::string& json, bool layers = false) {
  return CreditOf(spec, GroupFrom(json), layers);
}

// The first token of every trajectory.
inline std::vector<double> Firsts(const std::vector<Advantages>& advantages) {
  std::vector<double> firsts;
  for (const Advantages& one : advantages) {
    firsts.push_back(one.values.empty() ? 0.0 : one.values[0]);
  }
  return firsts;
}

inline void ExpectNear(const std::vector<double>& got, const std::vector<double>& wanted,
                       double tolerance = 1e-5) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], tolerance) << "entry " << i;
}

inline bool HasNote(const Credit& credit, NoteKind kind, int32_t leaf = -2) {
  for (const Note& note : credit.notes) {
    if (note.kind == kind && (leaf == -2 || note.leaf == leaf)) return true;
  }
  return false;
}

}  // namespace hone
