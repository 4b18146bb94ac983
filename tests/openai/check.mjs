// Talks to a running `hone serve` as people do, with the openai package. Prints one line per check;
// the exit status says whether all held. Usage: node check.mjs URL KEY
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [, , baseURL, apiKey, packages] = process.argv;
const { default: OpenAI } = await import(pathToFileURL(`${packages}/openai/index.mjs`));
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = (await client.models.list()).data[0].id;
const messages = [{ role: "user", content: "What is the sky in Delhi on Mon?" }];
const tools = [{ type: "function", function: { name: "weather", description: "The weather of a city on a day",
  parameters: { type: "object", properties: { city: { type: "string" }, day: { type: "string" } }, required: ["city", "day"] } } }];
const request = { model, messages, tools, max_tokens: 24, seed: 3 };

const check = async (name, body) => {
  await body();
  console.log(`ok ${name}`);
};
const refused = async (status, body) =>
  assert.rejects(body, (error) => error.status === status || assert.fail(`${error.status}: ${error.message}`));

let whole;
await check("chat", async () => {
  whole = await client.chat.completions.create(request);
  assert.equal(whole.object, "chat.completion");
  assert.equal(whole.choices[0].message.role, "assistant");
  assert.ok(["stop", "length", "tool_calls"].includes(whole.choices[0].finish_reason));
  assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);
});
await check("a stream says the same as the whole", async () => {
  const stream = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
  let content = "", calls = [], reason, usage;
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices[0];
    content += choice?.delta.content ?? "";
    calls.push(...(choice?.delta.tool_calls ?? []));
    reason = choice?.finish_reason ?? reason;
  }
  const message = whole.choices[0].message;
  assert.equal(content, message.content ?? "");
  assert.deepEqual(calls.map((call) => call.function), (message.tool_calls ?? []).map((call) => call.function));
  assert.equal(reason, whole.choices[0].finish_reason);
  assert.deepEqual(usage, whole.usage);
});
await check("the package's own helper reads the stream", async () => {
  const runner = client.chat.completions.stream(request);
  assert.equal((await runner.finalChatCompletion()).choices[0].finish_reason, whole.choices[0].finish_reason);
});
await check("logprobs", async () => {
  const reply = await client.chat.completions.create({ ...request, logprobs: true, top_logprobs: 3 });
  const content = reply.choices[0].logprobs.content;
  assert.equal(content.length, reply.usage.completion_tokens);
  for (const token of content) {
    assert.ok(token.logprob <= 0);
    assert.equal(token.top_logprobs.length, 3);
    assert.ok(token.top_logprobs[0].logprob >= token.logprob);
  }
});
await check("a tool that the agent cannot know is refused", async () => {
  const unknown = [{ type: "function", function: { name: "stocks", parameters: { type: "object" } } }];
  await refused(400, () => client.chat.completions.create({ ...request, tools: unknown }));
});
await check("tool calls go back and forth", async () => {
  const said = [...messages,
    { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function",
      function: { name: "weather", arguments: '{"city": "Delhi", "day": "Mon"}' } }] },
    { role: "tool", tool_call_id: "call_1", content: '{"sky": "fog", "temp": 24}' }];
  const reply = await client.chat.completions.create({ ...request, messages: said });
  assert.ok(reply.usage.prompt_tokens > whole.usage.prompt_tokens);
});
await check("n, stop, token ids", async () => {
  const reply = await client.chat.completions.create({ ...request, n: 3, return_token_ids: true });
  assert.equal(reply.choices.length, 3);
  assert.equal(reply.choices.reduce((sum, one) => sum + one.token_ids.length, 0), reply.usage.completion_tokens);
  assert.equal(reply.prompt_token_ids.length, reply.usage.prompt_tokens);
  const plain = await client.completions.create({ model, prompt: "Monday", max_tokens: 8, temperature: 0 });
  const first = plain.choices[0].text[0];
  const cut = await client.completions.create({ model, prompt: "Monday", max_tokens: 8, temperature: 0, stop: [first] });
  assert.equal(cut.choices[0].text, "");
  assert.equal(cut.choices[0].finish_reason, "stop");
});
await check("errors are the API's", async () => {
  await refused(404, () => client.chat.completions.create({ ...request, model: "gpt-4" }));
  await refused(400, () => client.chat.completions.create({ ...request, temperature: -1 }));
  await refused(400, () => client.chat.completions.create({ ...request, tool_choice: "required" }));
  await refused(401, () => new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list());
  try {
    await client.chat.completions.create({ ...request, top_p: 7 });
  } catch (error) {
    assert.equal(error.param, "top_p");
    assert.equal(error.type, "invalid_request_error");
  }
});
await check("a stream that is given up", async () => {
  const stream = await client.chat.completions.create({ ...request, stream: true });
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
});
