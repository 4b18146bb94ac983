// An agent loop in plain JavaScript against `hone serve MODEL --record runs/recorded`: every
// conversation it has becomes a tree that Hone can score, credit and train on (docs/serving.md).
//
//   npm install openai
//   node examples/serve/agent.mjs "What is the sky in Delhi on Mon?"
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: process.env.HONE_URL ?? "http://127.0.0.1:8000/v1",
  apiKey: process.env.HONE_API_KEY ?? "none",
});
// The quickstart's agent knows its tools by heart: a tool of another name would be refused.
const tools = { weather: ({ city }) => JSON.stringify({ sky: city === "Delhi" ? "fog" : "clear", temp: 24 }) };
const schemas = [{ type: "function", function: { name: "weather", description: "The weather of a city on a day",
  parameters: { type: "object", properties: { city: { type: "string" }, day: { type: "string" } }, required: ["city", "day"] } } }];

const model = (await client.models.list()).data[0].id;
const messages = [{ role: "user", content: process.argv[2] ?? "What is the sky in Delhi on Mon?" }];
let reply;
for (let turn = 0; turn < 8; ++turn) {
  reply = await client.chat.completions.create({ model, messages, tools: schemas, max_tokens: 64, seed: turn,
    metadata: { task: "sky" } });
  const message = reply.choices[0].message;
  messages.push(message);
  console.log(JSON.stringify(message));
  if (!message.tool_calls) break;
  for (const call of message.tool_calls) {
    const run = tools[call.function.name] ?? (() => "no such tool");
    messages.push({ role: "tool", tool_call_id: call.id, content: String(run(JSON.parse(call.function.arguments))) });
  }
}
const value = /fog/.test(messages.at(-1).content ?? "") ? 1 : 0;
await client.post("/rewards", { body: { completion: reply.id, name: "outcome", value } });
