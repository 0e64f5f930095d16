import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { type Simulator, startSimulator } from "../../../simulator.ts";
import type { HostBehaviour } from "./behaviour.ts";
import { SIMULATED_HOSTS } from "./hosts.ts";

let simulator: Simulator;
let strict: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  strict = await startSimulator({ tokenDelayMs: 0, strictHosts: true });
});
afterAll(async () => {
  await simulator.stop();
  await strict.stop();
});

const WEATHER = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

const ASKING: Readonly<Record<HostBehaviour["asks"][number], JsonObject>> = {
  reasoning_effort: { reasoning_effort: "high" },
  reasoning: { reasoning: { effort: "high" } },
  thinking: { thinking: { type: "enabled" } },
  enable_thinking: { enable_thinking: true },
  chat_template_kwargs: { chat_template_kwargs: { enable_thinking: true } },
};

function post(kind: string, body: JsonObject, at = simulator): Promise<Response> {
  return fetch(`${at.url}/hosts/${kind}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer any-key", "api-key": "any-key", "content-type": "application/json" },
    body: JSON.stringify({ model: "standard", messages: [{ role: "user", content: "Guten Tag ✓" }], ...body }),
  });
}

async function ask(kind: string, body: JsonObject, at = simulator): Promise<{ status: number; body: JsonObject }> {
  const response = await post(kind, body, at);
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function streamOf(kind: string, body: JsonObject): Promise<{ chunks: JsonObject[]; text: string }> {
  const text = await (await post(kind, { ...body, stream: true })).text();
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, one = ""]) => one);
  expect(data.at(-1)).toBe("[DONE]");
  return { chunks: data.slice(0, -1).map((one) => JSON.parse(one) as JsonObject), text };
}

const choiceOf = (body: JsonObject): JsonObject => {
  const first = Array.isArray(body.choices) ? body.choices[0] : undefined;
  return isObject(first) ? first : {};
};
const member = (holder: JsonObject, name: string): JsonObject => (isObject(holder[name]) ? holder[name] : {});
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const items = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** What a tolerant reader makes of a message or delta: thoughts and text, wherever they stand. */
function said(holder: JsonObject): { thoughts: string; words: string } {
  const parts = items(holder.content);
  const inParts = parts.flatMap((part) => items(part.thinking).map((one) => text(one.text)));
  return {
    thoughts: text(holder.reasoning_content) || text(holder.reasoning) || inParts.join(""),
    words: text(holder.content) + parts.map((part) => text(part.text)).join(""),
  };
}

const joined = (deltas: JsonObject[]) => ({
  thoughts: deltas.map((delta) => said(delta).thoughts).join(""),
  words: deltas.map((delta) => said(delta).words).join(""),
});
const deltasOf = (chunks: JsonObject[]) => chunks.map((chunk) => member(choiceOf(chunk), "delta"));

for (const host of SIMULATED_HOSTS) {
  describe(`providers 1.7: ${host.kind}`, () => {
    const asking = host.asks[0] === undefined ? {} : ASKING[host.asks[0]];

    test("returns the same streamed and not, with thoughts in its own field", async () => {
      const request = { model: "thinker", ...asking };
      const whole = member(choiceOf((await ask(host.kind, request)).body), "message");
      const { chunks } = await streamOf(host.kind, request);
      expect(joined(deltasOf(chunks))).toEqual(said(whole));
      expect(said(whole).words).toContain("Guten Tag ✓");
      expect(said(whole).thoughts !== "").toBe(host.thoughts !== "unseen" && host.thoughts !== "tags");
      expect(said(whole).words.startsWith("<think>\n")).toBe(host.thoughts === "tags");
    });

    test("usage comes once, where and when the host sends it", async () => {
      const asked = await streamOf(host.kind, { stream_options: { include_usage: true } });
      const positions = asked.chunks.flatMap((chunk) => {
        const choice = choiceOf(chunk);
        const found: string[] = [];
        if (isObject(chunk.usage)) found.push(choice.delta === undefined ? "separate" : "last chunk");
        if (isObject(choice.usage)) found.push("in choice");
        if (isObject(member(chunk, "x_groq").usage)) found.push("x_groq");
        return found;
      });
      expect(positions).toEqual(host.usage === "x_groq" ? ["last chunk", "x_groq"] : [host.usage]);
      const unasked = await streamOf(host.kind, {});
      expect(unasked.text.includes('"prompt_tokens"')).toBe(host.usageUnasked === true);
    });

    test("H03: two calls of one function stay two, in the host's way of streaming them", async () => {
      const messages = [{ role: "user", content: "use get_weather for Paris, parallel" }];
      const request = { messages, tools: [WEATHER] };
      const whole = member(choiceOf((await ask(host.kind, request)).body), "message");
      const ids = items(whole.tool_calls).map(({ id }) => id);
      expect(new Set(ids).size).toBe(2);
      const { chunks } = await streamOf(host.kind, request);
      const fragments = deltasOf(chunks).flatMap((delta) => items(delta.tool_calls));
      expect(fragments.map(({ id }) => text(id)).filter((id) => id !== "")).toEqual(ids.map(text));
      expect(fragments.every((one) => "index" in one)).toBe(host.calls !== "unindexed");
      expect(fragments.some(({ id }) => id === "")).toBe(host.calls === "empty ids");
      expect(fragments.length === 2).toBe(host.calls === "whole" || host.calls === "unindexed");
      if (host.callIds) for (const id of ids) expect(text(id)).toHaveLength(host.callIds.length);
    });

    test("a failure has the host's status and shape", async () => {
      const { status, body } = await ask(host.kind, { model: "fail-429" });
      expect(status).toBe(host.errors.status ?? 429);
      const refusal = { status: 429, message: "", type: "", param: null, code: null };
      expect(Object.keys(body)).toEqual(Object.keys(host.errors.body(refusal)));
      expect(JSON.stringify(body)).toContain("Rate limit reached");
    });

    test("a wrong key is rejected, and local hosts need no key", async () => {
      const send = (headers: Record<string, string>) =>
        fetch(`${simulator.url}/hosts/${host.kind}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify({ model: "standard", messages: [{ role: "user", content: "hi" }] }),
        });
      const good = async (response: Response) => response.ok && "id" in ((await response.json()) as object);
      expect(await good(await send({ [host.keyHeader ?? "authorization"]: "Bearer wrong" }))).toBe(false);
      expect(await good(await send({}))).toBe(host.keyless === true);
    });
  });
}

describe("providers 1.7: rules of single hosts", () => {
  const TURN = [
    { role: "user", content: "use get_weather for Paris" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_a", type: "function", function: { name: "get_weather", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_a", content: "rain" },
  ];
  const turnWith = (members: JsonObject): JsonObject[] =>
    TURN.map((message) => (message.role === "assistant" ? { ...message, ...members } : message));
  const statusOf = async (kind: string, body: JsonObject, at = simulator) => (await ask(kind, body, at)).status;

  test("deepseek requires reasoning_content on every assistant message, even if empty", async () => {
    const request = { model: "thinker", thinking: { type: "enabled" } };
    expect(await statusOf("deepseek", { ...request, messages: TURN })).toBe(400);
    expect(await statusOf("deepseek", { ...request, messages: turnWith({ reasoning_content: "" }) })).toBe(200);
    expect(await statusOf("deepseek", { model: "standard", messages: TURN })).toBe(200);
  });

  test("moonshot requires it on messages with calls, and not empty", async () => {
    const request = { model: "thinker", thinking: { type: "enabled" } };
    expect(await statusOf("moonshot", { ...request, messages: turnWith({ reasoning_content: "" }) })).toBe(400);
    expect(await statusOf("moonshot", { ...request, messages: turnWith({ reasoning_content: " " }) })).toBe(200);
    const plain = [
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ];
    expect(await statusOf("moonshot", { ...request, messages: plain })).toBe(200);
    expect(await statusOf("moonshot", { ...request, temperature: 0.5 })).toBe(400);
  });

  test("openai refuses to see any", async () => {
    const messages = turnWith({ reasoning_content: "hm" });
    expect(await ask("openai", { messages })).toMatchObject({
      status: 400,
      body: { error: { param: "messages[1].reasoning_content", code: "unknown_parameter" } },
    });
  });

  test("mistral takes thinking parts back, and refuses OpenAI's name of the output limit", async () => {
    const content = [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }];
    expect(await statusOf("mistral", { messages: turnWith({ content }) })).toBe(200);
    expect(await ask("mistral", { max_completion_tokens: 5 })).toMatchObject({
      status: 400,
      body: { object: "error", param: "max_completion_tokens" },
    });
    expect(await statusOf("mistral", { max_tokens: 5, random_seed: 1, tool_choice: "any", tools: [WEATHER] })).toBe(
      200,
    );
  });

  test("only a strict simulator refuses by rules that are not verified", async () => {
    expect(await statusOf("mistral", { messages: TURN })).toBe(200);
    expect(await statusOf("mistral", { messages: TURN }, strict)).toBe(400);
  });

  test("z-ai's temperature lies between 0 and 1, both excluded", async () => {
    expect(await ask("z-ai", { temperature: 0 })).toMatchObject({ status: 400, body: { error: { code: "1210" } } });
    expect(await statusOf("z-ai", { temperature: 1 })).toBe(400);
    expect(await statusOf("z-ai", { temperature: 0.99, top_p: 0.01 })).toBe(200);
  });

  test("minimax says everything under HTTP 200, and shows thoughts apart when asked", async () => {
    expect(await ask("minimax", { model: "fail-401" })).toMatchObject({
      status: 200,
      body: { base_resp: { status_code: 1004 } },
    });
    const request = { model: "thinker", thinking: { type: "adaptive" }, reasoning_split: true };
    const message = member(choiceOf((await ask("minimax", request)).body), "message");
    expect(items(message.reasoning_details)).toHaveLength(1);
    expect(text(message.content)).not.toContain("<think>");
  });

  test("x-ai leaves thoughts out of completion_tokens, and refuses stop on a thinking model", async () => {
    const { body } = await ask("x-ai", { model: "thinker", reasoning_effort: "low" });
    const usage = member(body, "usage");
    const thoughts = Number(member(usage, "completion_tokens_details").reasoning_tokens);
    expect(thoughts).toBeGreaterThan(0);
    expect(usage.total_tokens).toBe(Number(usage.prompt_tokens) + Number(usage.completion_tokens) + thoughts);
    const refused = await ask("x-ai", { model: "thinker", stop: ["x"] });
    expect(refused).toMatchObject({ status: 400, body: { code: "unsupported_parameter" } });
    expect(typeof refused.body.error).toBe("string");
  });

  test("cerebras refuses what it does not know, with the error at the top level", async () => {
    const { status, body } = await ask("cerebras", { presence_penalty: 1 });
    expect({ status, param: body.param }).toEqual({ status: 400, param: "presence_penalty" });
  });

  test("openrouter's error inside a stream is a chunk that finishes with it, after comments", async () => {
    const body = await (await post("openrouter", { model: "error-in-stream", stream: true })).text();
    expect(body).toStartWith(": OPENROUTER PROCESSING\n\n");
    const last = JSON.parse(/data: (.*)\n\n$/.exec(body)?.[1] ?? "{}") as JsonObject;
    expect(member(last, "error").code).toBe(500);
    expect(choiceOf(last).finish_reason).toBe("error");
  });

  test("azure begins with a chunk of no choices", async () => {
    const { chunks } = await streamOf("azure-openai", {});
    expect(chunks[0]).toMatchObject({ id: "", model: "", choices: [] });
  });

  test("ollama takes images as data only, fireworks one way of asking, deepseek no schema", async () => {
    const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
    expect(await statusOf("ollama", { messages: [{ role: "user", content: [image] }] })).toBe(400);
    const both = { model: "thinker", thinking: { type: "enabled" }, reasoning_effort: "low" };
    expect(await statusOf("fireworks", both)).toBe(400);
    const response_format = { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } };
    expect(await statusOf("deepseek", { response_format })).toBe(400);
  });
});
