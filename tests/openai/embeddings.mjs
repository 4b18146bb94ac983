// Asks a running `hone serve` for embeddings as people do, with the openai package. Prints one line per check; the exit
// status says whether all held. Usage: node embeddings.mjs URL KEY PACKAGES MODEL
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [, , baseURL, apiKey, packages, model] = process.argv;
const { default: OpenAI } = await import(pathToFileURL(`${packages}/openai/index.mjs`));
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const check = async (name, body) => {
  await body();
  console.log(`ok ${name}`);
};
const refused = async (status, body) =>
  assert.rejects(body, (error) => error.status === status || assert.fail(`${error.status}: ${error.message}`));

const input = ["the rain in Spain", "a tool that is called"];
let floats;
await check("texts have vectors of length 1", async () => {
  const reply = await client.embeddings.create({ model, input, encoding_format: "float" });
  assert.equal(reply.object, "list");
  assert.deepEqual(reply.data.map((one) => one.index), [0, 1]);
  floats = reply.data.map((one) => one.embedding);
  for (const vector of floats) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5);
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens);
});
await check("the package's own encoding gives the same numbers", async () => {
  const reply = await client.embeddings.create({ model, input });
  reply.data.forEach((one, i) => assert.deepEqual(Array.from(one.embedding), floats[i].map(Math.fround)));
});
await check("one text alone has the same vector", async () => {
  const reply = await client.embeddings.create({ model, input: input[1], encoding_format: "float" });
  assert.deepEqual(reply.data[0].embedding, floats[1]);
});
await check("dimensions: the vectors' own or none", async () => {
  await client.embeddings.create({ model, input, dimensions: floats[0].length });
  await refused(400, () => client.embeddings.create({ model, input, dimensions: 3 }));
});
await check("errors are the API's", async () => {
  await refused(404, () => client.embeddings.create({ model: "text-embedding-3-small", input }));
  await refused(400, () => client.embeddings.create({ model, input: [] }));
  await refused(401, () => new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).embeddings.create({ model, input }));
});
