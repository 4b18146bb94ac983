#include "train/stages/posed_json.h"

#include <fmt/format.h>

#include "record/record_json.h"

namespace hone {
namespace {

Json RequestToJson(const GroupRequest& request) {
  return Json::Of({{"task", TaskToJson(request.task)},
                   {"seed", request.seed},
                   {"leaves", request.leaves},
                   {"greedy", request.greedy},
                   {"scope", request.scope}});
}

void ReadRequest(JsonFields* fields, GroupRequest* request) {
  fields->Required("task", &request->task);
  fields->Required("seed", &request->seed);
  fields->Required("leaves", &request->leaves);
  fields->Required("greedy", &request->greedy);
  fields->Required("scope", &request->scope);
}

}  // namespace

Json RequestsToJson(std::span<const GroupRequest> requests) {
  Json::Array all;
  for (const GroupRequest& request : requests) all.push_back(RequestToJson(request));
  return all;
}

Result<std::vector<GroupRequest>> RequestsFromJson(const Json& json) {
  std::vector<GroupRequest> requests;
  JsonErrors errors;
  for (const Json& one : json.AsArray()) {
    JsonFields fields(one, fmt::format("requests[{}]", requests.size()), &errors);
    ReadRequest(&fields, &requests.emplace_back());
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  return requests;
}

Json PosedToJson(const PosedTasks& posed) {
  Json::Array groups;
  for (size_t i = 0; i < posed.requests.size(); ++i) {
    Json group = RequestToJson(posed.requests[i]);
    group.Set("number", posed.numbers[i]);
    groups.push_back(std::move(group));
  }
  return Json::Of({{"asked", posed.asked}, {"voids", posed.voids}, {"groups", std::move(groups)}});
}

void ReadPosed(const Json& json, const std::string& path, JsonErrors* errors, PosedTasks* posed) {
  std::vector<Json> groups;
  {
    JsonFields fields(json, path, errors);
    fields.Required("asked", &posed->asked);
    fields.Required("voids", &posed->voids);
    fields.Required("groups", &groups);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    JsonFields fields(groups[i], fmt::format("{}.groups[{}]", path, i), errors);
    ReadRequest(&fields, &posed->requests.emplace_back());
    fields.Required("number", &posed->numbers.emplace_back());
  }
}

}  // namespace hone
