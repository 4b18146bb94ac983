#include "tools/openapi/openapi_document.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/shared_data.h"

namespace hone {
namespace {

OpenApiDocument Read(const char* json) {
  auto document = ReadOpenApi(*ParseJson(json));
  EXPECT_TRUE(document.ok()) << document.error().message();
  return *std::move(document);
}

constexpr char kPets[] = R"({
  "openapi": "3.0.3",
  "servers": [{"url": "https://{host}/v1", "variables": {"host": {"default": "pets.test"}}}],
  "paths": {
    "/pets/{id}": {
      "parameters": [{"$ref": "#/components/parameters/Id"},
                     {"name": "verbose", "in": "query", "schema": {"type": "boolean"}}],
      "get": {"operationId": "pet.by id", "summary": "One pet.", "description": "By its id.",
        "parameters": [{"name": "id", "in": "query", "schema": {"type": "string"}},
                       {"name": "verbose", "in": "query", "required": true,
                        "schema": {"type": "integer"}},
                       {"name": "Authorization", "in": "header", "schema": {"type": "string"}}],
        "responses": {"404": {"description": "no"},
                      "200": {"content": {"application/json":
                        {"schema": {"$ref": "#/components/schemas/Pet"}}}}}},
      "delete": {"responses": {}},
      "put": {"requestBody": {"required": true, "content": {
        "text/plain": {}, "application/merge+json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}
    },
    "/upload": {"post": {"operationId": "upload",
      "requestBody": {"content": {"multipart/form-data": {}}}}},
    "/broken/{x}": {"get": {"operationId": "broken"}},
    "/twice": {"get": {"operationId": "pet by id"}}
  },
  "components": {
    "parameters": {"Id": {"name": "id", "in": "path", "required": true, "description": "which",
                          "schema": {"type": "integer"}}},
    "schemas": {"Pet": {"type": "object", "properties": {"name": {"type": "string"},
                        "friend": {"$ref": "#/components/schemas/Pet"}}}}
  }
})";

TEST(OpenApiDocument, OperationsBecomeTools) {
  const OpenApiDocument document = Read(kPets);
  ASSERT_EQ(document.operations.size(), 4u);
  const OpenApiOperation& get = document.operations[0];
  EXPECT_EQ(get.spec.name, "pet_by_id");
  EXPECT_EQ(get.spec.description, "One pet.\nBy its id.");
  EXPECT_EQ(get.spec.effect, Effect::kReads);
  EXPECT_EQ(get.server, "https://pets.test/v1");
  EXPECT_EQ(get.spec.parameters, *ParseJson(R"({"type": "object", "properties": {
      "id": {"type": "integer", "description": "which"},
      "verbose": {"type": "integer"}, "query_id": {"type": "string"}},
      "required": ["id", "verbose"], "additionalProperties": false})"));
  ASSERT_TRUE(get.spec.output.has_value());
  EXPECT_EQ(get.spec.output->Find("properties")->Find("friend")->Find("description")->AsString(),
            "again Pet, which contains itself");

  const OpenApiOperation& put = document.operations[1];
  EXPECT_EQ(put.spec.name, "put_pets_id");
  EXPECT_EQ(put.spec.effect, Effect::kWrites);
  EXPECT_EQ(put.content_type, "application/merge+json");
  EXPECT_EQ(put.body_argument, "body");
  EXPECT_EQ(*put.spec.parameters.Find("required"), Json(Json::Array{"id", "body"}));
  EXPECT_EQ(document.operations[2].spec.effect, Effect::kIrreversible);
  EXPECT_EQ(document.operations[2].spec.description, "DELETE /pets/{id}");
  EXPECT_EQ(document.operations[3].spec.name, "pet_by_id_2");
}

TEST(OpenApiDocument, WhatCannotBeAToolIsLeftOutWithTheReason) {
  const OpenApiDocument document = Read(kPets);
  ASSERT_EQ(document.left_out.size(), 2u);
  EXPECT_EQ(document.left_out[0], "upload: a body of type multipart/form-data is not supported");
  EXPECT_EQ(document.left_out[1], "broken: the path has {x}, but there is no such parameter");
}

TEST(OpenApiDocument, APathThatNoUrlCanHaveIsLeftOut) {
  const OpenApiDocument document = Read(R"({"openapi": "3.1.0", "paths": {
    "/a b": {"get": {"operationId": "blank"}}, "/a\r\nHost: b": {"get": {"operationId": "line"}},
    "/{a b}": {"get": {"operationId": "named", "parameters":
        [{"name": "a b", "in": "path", "required": true}]}}}})");
  ASSERT_EQ(document.left_out.size(), 2u);
  EXPECT_NE(document.left_out[0].find("blank: the path has a blank"), std::string::npos);
  ASSERT_EQ(document.operations.size(), 1u);
  EXPECT_EQ(document.operations[0].spec.name, "named");
}

TEST(OpenApiDocument, AParameterCalledBodyDoesNotHideTheBody) {
  const OpenApiDocument document = Read(R"({"openapi": "3.1.0", "paths": {"/x": {"post": {
    "parameters": [{"name": "body", "in": "query"}, {"name": "body", "in": "header"}],
    "requestBody": {"content": {"*/*": {}}}}}}})");
  ASSERT_EQ(document.operations.size(), 1u);
  EXPECT_EQ(document.operations[0].parameters[1].argument, "header_body");
  EXPECT_EQ(document.operations[0].body_argument, "request_body");
  EXPECT_EQ(document.operations[0].content_type, "application/json");
}

TEST(OpenApiDocument, OtherVersionsAreRefused) {
  EXPECT_NE(ReadOpenApi(*ParseJson(R"({"swagger": "2.0"})")).error().message().find("Swagger"),
            std::string::npos);
  for (const char* json :
       {"{}", "[]", "3", R"({"openapi": 3})", R"({"openapi": "4.0.0"})",
        R"({"openapi": "3.0.0", "paths": []})", R"({"openapi": "3.0.0", "paths": {"/x": 1}})",
        R"({"openapi": "3.0.0", "paths": {"/x": {"$ref": "#/paths/~1x"}}})"}) {
    EXPECT_FALSE(ReadOpenApi(*ParseJson(json)).ok()) << json;
  }
}

// Every operation of real documents becomes a tool, or says why not.
void ReadAllUnder(const std::filesystem::path& folder, const char* suffix, int* tools) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !name.ends_with(suffix)) continue;
    const Result<Json> json = ParseJson(*ReadFile(entry.path()));
    ASSERT_TRUE(json.ok()) << entry.path() << json.error().message();
    const auto document = ReadOpenApi(*json);
    if (json->Find("swagger") != nullptr) {
      EXPECT_EQ(document.error().code(), ErrorCode::kUnsupported) << entry.path();
      continue;
    }
    ASSERT_TRUE(document.ok()) << entry.path() << document.error().message();
    int operations = 0;
    if (const Json* paths = json->Find("paths")) {
      for (const auto& [path, item] : paths->AsObject()) {
        for (const char* method : {"get", "put", "post", "delete", "head", "patch"}) {
          operations += item.Find(method) != nullptr ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(static_cast<int>(document->operations.size()), operations)
        << entry.path() << (document->left_out.empty() ? "" : document->left_out[0]);
    *tools += static_cast<int>(document->operations.size());
  }
}

TEST(OpenApiDocument, ThePublishedExamplesAreRead) {
  HONE_NEED_SHARED(folder, "data/openapi");
  int tools = 0;
  ReadAllUnder(folder, ".json", &tools);
  EXPECT_GT(tools, 5);
}

TEST(OpenApiDocument, TheDocumentsOfRealServicesAreRead) {
  HONE_NEED_SHARED(folder, "data/restbench");
  int tools = 0;
  ReadAllUnder(folder, "_oas.json", &tools);
  EXPECT_GT(tools, 90);
}

}  // namespace
}  // namespace hone
