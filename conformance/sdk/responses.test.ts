import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  callsIn,
  type FunctionTool,
  type Item,
  RESPONSES_DOORS,
  RESPONSES_GENERATIONS,
  RESPONSES_KINDS,
  type ResponsesBody,
  replayed,
  textIn,
} from "./responses-clients.ts";
import { collect, extra, failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

const declare = (name: string): FunctionTool => ({
  type: "function",
  name,
  description: `Looks up ${name} for a city.`,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
});
const TOOLS = [declare("get_weather"), declare("get_time")];
const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

for (const { version, connect } of RESPONSES_GENERATIONS) {
  const open = (path = "/v1") =>
    connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });

  for (const path of RESPONSES_DOORS) {
    test(`openai ${version} at ${path}: a plain text is answered, streamed or not`, async () => {
      const client = open(path);
      const body: ResponsesBody = { model: "openai-compatible/standard", input: "Where do three roads meet?" };
      const whole = await client.responses.create(body);
      expect(whole.status).toBe("completed");
      expect(whole.output_text).toContain("Where do three roads meet?");
      expect(whole.model).toBe("openai-compatible/standard");
      expect(whole.usage?.total_tokens).toBe((whole.usage?.input_tokens ?? 0) + (whole.usage?.output_tokens ?? 0));
      const events = await collect(await client.responses.create({ ...body, stream: true }));
      expect(events.map((event) => extra(event, "sequence_number"))).toEqual(events.map((_, index) => index));
      const said = events
        .filter(({ type }) => type === "response.output_text.delta")
        .map((event) => extra(event, "delta"));
      expect(said.join("")).toBe(whole.output_text);
      expect(events.at(-1)?.type).toBe("response.completed");
    });
  }

  for (const kind of RESPONSES_KINDS) {
    describe(`openai ${version}, ${kind}`, () => {
      const asking = (input: string | Item[], model = "standard"): ResponsesBody => ({
        model: `${kind}/${model}`,
        input,
      });

      test("the stream helper adds up to the response", async () => {
        const stream = open().responses.stream(asking("Where do three roads meet?"));
        const { status, output } = await stream.finalResponse();
        expect(status).toBe("completed");
        expect(textIn(output)).toContain("Where do three roads meet?");
      });

      test("parse: a response has the requested form", async () => {
        const schema = {
          type: "object",
          properties: { city: { type: "string" } },
          required: ["city"],
          additionalProperties: false,
        };
        const answer = await open().responses.parse({
          ...asking("Name a city."),
          text: { format: { type: "json_schema", name: "place", strict: true, schema } },
        });
        expect(answer.output_parsed).toMatchObject({ city: expect.any(String) });
      });

      test("a loop of parallel tools, whose results are matched by call_id", async () => {
        const client = open();
        const input: Item[] = [{ role: "user", content: "Call get_weather and get_time in parallel for Lisbon." }];
        const first = await client.responses.create({ ...asking(input), tools: TOOLS });
        const calls = callsIn(first.output);
        expect(calls.map(({ name }) => name).sort()).toEqual(["get_time", "get_weather"]);
        for (const call of calls) expect(JSON.parse(call.arguments)).toEqual({ city: "Lisbon" });
        const results = calls.map(
          ({ call_id, name }): Item => ({ type: "function_call_output", call_id, output: `${name} says fine` }),
        );
        const next = [...input, ...replayed(first.output), ...results];
        const second = await client.responses.create({ ...asking(next), tools: TOOLS });
        expect(second.output_text).toContain("get_weather answered “get_weather says fine”");
        expect(second.output_text).toContain("get_time answered “get_time says fine”");
      });

      test("H02: a model that requires its thoughts back gets them over several turns", async () => {
        const client = open();
        const body = { tools: TOOLS, reasoning: { effort: "low", summary: "auto" }, store: false } as const;
        const input: Item[] = [{ role: "user", content: "Please use get_weather for Lisbon." }];
        const stream = client.responses.stream({ ...asking(input, "strict-thinker"), ...body });
        const first = await stream.finalResponse();
        const calls = callsIn(first.output);
        expect(calls.length).toBe(1);
        const results = calls.map(
          ({ call_id }): Item => ({ type: "function_call_output", call_id, output: "18 degrees" }),
        );
        const next = [...input, ...replayed(first.output), ...results];
        const second = await client.responses.create({ ...asking(next, "strict-thinker"), ...body });
        expect(second.status).toBe("completed");
        expect(second.output_text).toContain("get_weather answered “18 degrees”");
      });

      test("accepts images", async () => {
        const text = { type: "input_text", text: "What is this?" } as const;
        const image = { type: "input_image", image_url: PNG, detail: "auto" } as const;
        const answer = await open().responses.create(asking([{ role: "user", content: [text, image] }]));
        expect(answer.output_text).toContain("image/png");
      });

      test("R19: a response truncated by its limit is incomplete, streamed or not", async () => {
        const answer = await open().responses.create(asking("Tell a story.", "max-tokens"));
        expect(answer.status).toBe("incomplete");
        expect(answer.incomplete_details).toEqual({ reason: "max_output_tokens" });
        const events = await collect(
          await open().responses.create({ ...asking("Tell a story.", "max-tokens"), stream: true }),
        );
        expect(events.at(-1)?.type).toBe("response.incomplete");
      });

      test.each(["cut-mid-stream", "close-mid-stream", "error-in-stream", "garbage-in-stream"])(
        "R1: %s is an error to the reader of the stream",
        async (model) => {
          const seen: string[] = [];
          const read = async () => {
            for await (const event of await open().responses.create({ ...asking("Hello", model), stream: true }))
              seen.push(event.type);
          };
          const error = await failureOf(read());
          expect(error.message).not.toBe("");
          expect(seen).toContain("response.output_text.delta");
          expect(seen).not.toContain("response.completed");
          const helper = open().responses.stream(asking("Hello", model));
          await expect(helper.finalResponse()).rejects.toThrow();
        },
      );

      test.each([
        ["fail-429", 429],
        ["fail-500", 502],
        ["fail-400", 400],
      ] as const)("%s is reported with status %d in the protocol's form", async (model, status) => {
        const error = await failureOf(open().responses.create(asking("Hello", model)));
        expect(extra(error, "status")).toBe(status);
        expect(extra(extra(error, "error") as object, "message")).toBeString();
      });
    });
  }

  test(`openai ${version}: R34, an unknown model`, async () => {
    const error = await failureOf(open().responses.create({ model: "acme/none", input: "Hello" }));
    expect(extra(error, "status")).toBe(404);
    expect(extra(error, "code")).toBe("model_not_found");
    expect(extra(error, "param")).toBe("model");
  });

  test(`openai ${version}: mistakes in a request are reported with their path`, async () => {
    const input = [
      { role: "user", content: "Hello" },
      { type: "function_call_output", output: "x" },
    ] as Item[];
    const error = await failureOf(open().responses.create({ model: "anthropic/standard", input }));
    expect(extra(error, "status")).toBe(400);
    expect(extra(error, "param")).toBe("input[1].call_id");
  });

  test(`openai ${version}: a refusal is a separate part if the provider sends one`, async () => {
    const answer = await open().responses.create({ model: "openai-compatible/refusal", input: "Hello" });
    expect(answer.output).toMatchObject([{ content: [{ type: "refusal" }] }]);
  });
}
