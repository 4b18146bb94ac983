#include "train/demonstrator_options.h"

#include "envs/environments.h"

namespace hone {

DemonstratorOptions ReadDemonstrator(RecipeTable* table, const EnvironmentOptions& environment) {
  DemonstratorOptions settings;
  const bool has_teacher = environment.traits.has_teacher;
  if (has_teacher) settings.agent = "teacher";
  table->ReadChoice("demonstrator", &settings.agent, {"teacher", "gold"}, "who shows how");
  if (settings.agent == "teacher" && environment.traits.own_errors) {
    if (table->Has("teacher_error")) {
      table->PassOver("teacher_error");
      table->Problem("teacher_error",
                     "the teacher of " + environment.kind + " errs as [environment.tasks] says");
    }
  } else if (settings.agent == "teacher") {
    table->Read("teacher_error", &settings.teacher_error,
                "share of the teacher's calls that go wrong", Between(0, 1));
    if (!has_teacher) {
      table->Problem("demonstrator", "only " + EnvironmentsWith(&KindTraits::has_teacher) +
                                         " have a teacher; write \"gold\"");
    }
  }
  table->Read("successful_only", &settings.successful_only,
              "leave out demonstrations that did not end well, or wasted a call");
  return settings;
}

}  // namespace hone
