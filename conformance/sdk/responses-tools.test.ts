import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAi from "openai";
import { extra, failureOf, receiptOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

type Body = OpenAi.Responses.ResponseCreateParamsNonStreaming;

const WEATHER: OpenAi.Responses.FunctionTool = {
  type: "function",
  name: "get_weather",
  description: "Looks up the weather for a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

describe("openai 7", () => {
  const open = () => new OpenAi({ baseURL: `${harness.gateway.url}/v1`, apiKey: harness.gateway.key, maxRetries: 0 });

  test("the tokens of a prompt are counted, and an estimate is marked as one", async () => {
    const { data, response } = await open()
      .responses.inputTokens.count({ model: "openai-compatible/standard", input: "Where do three roads meet?" })
      .withResponse();
    expect(data.object).toBe("response.input_tokens");
    expect(data.input_tokens).toBeGreaterThan(0);
    const receipt = await receiptOf(harness, response.headers.get("x-trivium-receipt"));
    expect(receipt.fields).toMatchObject([{ path: "(count)", action: "approximated" }]);
  });

  test("R5: a strict call with a tool that the provider does not know is refused by name", async () => {
    const body: Body = { model: "anthropic/standard", input: "Hello", tools: [{ type: "shell" }] };
    const { response } = await open().responses.create(body).withResponse();
    expect(response.headers.get("x-trivium-dropped")).toContain("tools[0]");
    const error = await failureOf(open().responses.create(body, { headers: { "x-trivium-strict": "true" } }));
    expect(extra(error, "status")).toBe(400);
    expect(extra(error, "param")).toBe("tools[0]");
  });

  test("decision 0103: a shell, patches and their results, on models that do not know these tools", async () => {
    const tools: OpenAi.Responses.Tool[] = [
      { type: "shell", environment: { type: "local" } },
      { type: "apply_patch" },
      { type: "local_shell" },
    ];
    for (const kind of ["anthropic", "gemini", "bedrock", "openai-compatible"]) {
      const model = `${kind}/standard`;
      const input = "Use the tool shell for Lisbon.";
      const { data, response } = await open()
        .responses.create({ model, input, tools, tool_choice: { type: "shell" } })
        .withResponse();
      const called = data.output.at(-1);
      expect(called).toMatchObject({ type: "shell_call", status: "completed", environment: { type: "local" } });
      if (called?.type !== "shell_call") throw new Error("no call");
      const receipt = await receiptOf(harness, response.headers.get("x-trivium-receipt"));
      const reason = "this provider supports it only as a plain function";
      expect(receipt.fields).toContainEqual({ path: "tools[0]", action: "approximated", reason });
      const ran = { stdout: "18 degrees and clear", stderr: "", outcome: { type: "exit" as const, exit_code: 0 } };
      const stream = open().responses.stream({
        model,
        previous_response_id: data.id,
        input: [{ type: "shell_call_output", call_id: called.call_id, output: [ran] }],
        tools,
      });
      expect((await stream.finalResponse()).output_text).toContain("18 degrees and clear");
    }
  });

  test("R6: a tool of a namespace is called by both of its names, on a provider without namespaces", async () => {
    const tools: OpenAi.Responses.Tool[] = [
      { type: "namespace", name: "places", description: "Places.", tools: [WEATHER] },
    ];
    const answer = await open().responses.create({
      model: "anthropic/standard",
      input: "Please use places__get_weather for Lisbon.",
      tools,
    });
    expect(answer.output).toMatchObject([{ type: "function_call", namespace: "places", name: "get_weather" }]);
  });

  test("a custom tool is called with free text, on providers that only have functions", async () => {
    for (const kind of ["anthropic", "gemini", "bedrock"]) {
      const tools: OpenAi.Responses.Tool[] = [{ type: "custom", name: "run_script", description: "Runs a script." }];
      const answer = await open().responses.create({
        model: `${kind}/standard`,
        input: "Please use run_script for Lisbon.",
        tools,
      });
      expect(answer.output.at(-1)).toMatchObject({
        type: "custom_tool_call",
        name: "run_script",
        input: expect.not.stringContaining("{"),
      });
    }
  });
});

describe("unsupported features", () => {
  const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${harness.gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${harness.gateway.key}`, ...headers },
    });

  test("R27: an upgrade at the strict base URL is refused at once, with the request that works", async () => {
    const answer = await ask("GET", "/api/v1/responses", {
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toContain("POST");
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringContaining("Use POST /api/v1/responses") },
    });
  });
});
