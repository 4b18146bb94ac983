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
  await refused(400, () => client.chat.completions.create({ ...request, tools: undefined, tool_choice: "required" }));
  await refused(401, () => new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list());
  try {
    await client.chat.completions.create({ ...request, top_p: 7 });
  } catch (error) {
    assert.equal(error.param, "top_p");
    assert.equal(error.type, "invalid_request_error");
  }
});
await check("a call that must be made is made", async () => {
  for (const tool_choice of ["required", { type: "function", function: { name: "weather" } }]) {
    const reply = await client.chat.completions.create({ ...request, max_tokens: 200, tool_choice, temperature: 2 });
    if (reply.choices[0].finish_reason === "length") continue; // it was cut inside the call
    const [call] = reply.choices[0].message.tool_calls;
    assert.equal(call.function.name, "weather");
    assert.deepEqual(Object.keys(JSON.parse(call.function.arguments)), ["city", "day"]);
  }
  const greedy = await client.chat.completions.create({ ...request, max_tokens: 100, tool_choice: "required", temperature: 0 });
  assert.equal(greedy.choices[0].finish_reason, "tool_calls");
  await refused(400, () => client.chat.completions.create({ ...request, tool_choice: { type: "function", function: { name: "clock" } } }));
});
const schema = { type: "object", additionalProperties: false, required: ["sky", "warm"],
  properties: { sky: { type: "string", enum: ["sun", "fog"] }, warm: { type: "boolean" } } };
await check("an answer has the form that was asked for", async () => {
  const response_format = { type: "json_schema", json_schema: { name: "weather", strict: true, schema } };
  const reply = await client.chat.completions.create({ model, messages, max_tokens: 60, seed: 4, temperature: 2, response_format });
  const said = JSON.parse(reply.choices[0].message.content);
  assert.ok(["sun", "fog"].includes(said.sky) && typeof said.warm === "boolean");
  await refused(400, () => client.chat.completions.create({ ...request, response_format: { type: "json_schema",
    json_schema: { name: "x", schema: { type: "string", pattern: "^a" } } } }));
});
const flat = tools.map((tool) => ({ type: "function", strict: false, ...tool.function }));
await check("responses: items in, items out", async () => {
  const asked = { model, input: messages[0].content, tools: flat, temperature: 0, max_output_tokens: 100, tool_choice: "required" };
  const reply = await client.responses.create(asked);
  assert.equal(reply.object, "response");
  assert.equal(reply.status, "completed");
  const call = reply.output.find((item) => item.type === "function_call");
  assert.equal(call.name, "weather");
  assert.equal(reply.usage.total_tokens, reply.usage.input_tokens + reply.usage.output_tokens);
  const next = await client.responses.create({ model, instructions: "Be brief.", temperature: 0, max_output_tokens: 50, tools: flat,
    input: [{ role: "user", content: [{ type: "input_text", text: messages[0].content }] }, ...reply.output,
      { type: "function_call_output", call_id: call.call_id, output: '{"sky": "fog", "temp": 24}' }] });
  assert.ok(["completed", "incomplete"].includes(next.status));
  assert.equal(typeof next.output_text, "string");
  const formed = await client.responses.create({ model, input: "Rome?", seed: 1, temperature: 2, max_output_tokens: 60,
    text: { format: { type: "json_schema", name: "weather", strict: true, schema } } });
  assert.ok(["sun", "fog"].includes(JSON.parse(formed.output_text).sky));
});
await check("responses: a stream says the same as the whole", async () => {
  for (const more of [{ tools: flat, tool_choice: "required" }, {}]) {
    const asked = { model, input: messages[0].content, seed: 5, max_output_tokens: 60, ...more };
    const whole = await client.responses.create(asked);
    let text = "", last, number = 0;
    for await (const event of await client.responses.create({ ...asked, stream: true })) {
      assert.equal(event.sequence_number, number++);
      if (event.type === "response.output_text.delta") text += event.delta;
      last = event;
    }
    assert.ok(["response.completed", "response.incomplete"].includes(last.type));
    assert.equal(text, whole.output_text);
    const shape = (items) => items.map(({ type, name, arguments: args }) => ({ type, name, args }));
    assert.deepEqual(shape(last.response.output), shape(whole.output));
    const helped = await client.responses.stream(asked).finalResponse();
    assert.deepEqual(shape(helped.output), shape(whole.output));
  }
});
await check("responses: what cannot be had is refused", async () => {
  const asked = { model, input: "Hello" };
  await refused(400, () => client.responses.create({ ...asked, previous_response_id: "resp_1" }));
  await refused(400, () => client.responses.create({ ...asked, tools: [{ type: "web_search" }] }));
  await refused(400, () => client.responses.create({ ...asked, truncation: "auto" }));
  await refused(400, () => client.responses.create({ ...asked, input: [{ role: "user", content: [{ type: "input_image", image_url: "x" }] }] }));
});
await check("a stream that is given up", async () => {
  const stream = await client.chat.completions.create({ ...request, stream: true });
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
});
