import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAi7 from "openai";
import OpenAi5 from "openai-5";
import { eventually } from "../../testing/eventually.ts";
import { callsIn, RESPONSES_KINDS } from "./responses-clients.ts";
import { collect, failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

/** The package warns on the console about every model name it does not know. */
Reflect.set(globalThis, "AI_SDK_LOG_WARNINGS", false);

const PARAMETERS = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false as const,
};
const GET_WEATHER = {
  type: "function" as const,
  name: "get_weather",
  description: "Looks up the weather for a city.",
  parameters: PARAMETERS,
  strict: true,
};
const REASONING = { effort: "low", summary: "auto" } as const;

interface Stored {
  id: string;
  status?: string | null;
  previous_response_id?: string | null;
  output: { type: string }[];
}

interface Asked {
  model: string;
  input: string | { type: "function_call_output"; call_id: string; output: string }[];
  previous_response_id?: string;
  background?: boolean;
  tools?: (typeof GET_WEATHER)[];
  reasoning?: typeof REASONING;
}

/** What the scenarios use of a client. Both generations are assigned to it, so the compiler checks them. */
interface StoredClient {
  responses: {
    create(body: Asked): PromiseLike<Stored & { output_text: string }>;
    stream(body: Asked): { finalResponse(): Promise<Stored> };
    retrieve(id: string): PromiseLike<Stored & { output_text: string }>;
    cancel(id: string): PromiseLike<Stored>;
    delete(id: string): PromiseLike<unknown>;
    inputItems: {
      list(id: string, query: object): AsyncIterable<{ id?: string | null; type?: string | null }>;
    };
  };
}

type Connect = (options: { baseURL: string; apiKey: string; maxRetries: number }) => StoredClient;
const GENERATIONS: { version: number; connect: Connect }[] = [
  { version: 7, connect: (options) => new OpenAi7(options) },
  { version: 5, connect: (options) => new OpenAi5(options) },
];

for (const { version, connect } of GENERATIONS) {
  const open = () => connect({ baseURL: `${harness.gateway.url}/v1`, apiKey: harness.gateway.key, maxRetries: 0 });

  describe(`stored responses, openai ${version}`, () => {
    test.each(RESPONSES_KINDS)(
      "R12, H02 at %s: only a tool's result continues a model that requires its thoughts back",
      async (kind) => {
        const client = open();
        const body = { model: `${kind}/strict-thinker`, tools: [GET_WEATHER], reasoning: REASONING };
        const first = await client.responses.create({ ...body, input: "Please use get_weather for Lisbon." });
        const [call] = callsIn(first.output);
        expect(call?.name).toBe("get_weather");
        const result = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "18 degrees" };
        const second = await client.responses.create({ ...body, input: [result], previous_response_id: first.id });
        expect(second.output_text).toContain("get_weather answered “18 degrees”");
        // From a stream, and on with another model than the one that began.
        const other = RESPONSES_KINDS.find((one) => one !== kind) ?? kind;
        const streamed = client.responses.stream({
          model: `${other}/standard`,
          input: "Thank you.",
          previous_response_id: second.id,
        });
        const third = await streamed.finalResponse();
        expect([third.status, third.previous_response_id]).toEqual(["completed", second.id]);
        const items = await collect(client.responses.inputItems.list(third.id, { order: "asc", limit: 100 }));
        expect(items.map(({ type }) => type)).toEqual(
          expect.arrayContaining(["function_call", "function_call_output", "message"]),
        );
        expect(items.at(-1)).toMatchObject({
          role: "user",
          content: [{ type: "input_text", text: "Thank you." }],
        });
      },
    );

    test("retrieve, list page by page, delete, and the errors after deletion", async () => {
      const client = open();
      const body = { model: "openai-compatible/standard" };
      const first = await client.responses.create({ ...body, input: "One." });
      const second = await client.responses.create({ ...body, input: "Two.", previous_response_id: first.id });
      const shown = await client.responses.retrieve(second.id);
      expect([shown.id, shown.output_text]).toEqual([second.id, second.output_text]);
      const items = await collect(client.responses.inputItems.list(second.id, { limit: 1 }));
      expect(new Set(items.map(({ id }) => id)).size).toBe(3);
      await client.responses.delete(first.id);
      expect(await failureOf(client.responses.retrieve(first.id))).toMatchObject({ status: 404 });
      const continued = client.responses.create({ ...body, input: "Three.", previous_response_id: second.id });
      expect(await failureOf(continued)).toMatchObject({ status: 400, code: "previous_response_not_found" });
    });

    test("in the background: created, polled, cancelled", async () => {
      const client = open();
      const queued = await client.responses.create({
        model: "openai-compatible/standard",
        input: "Hi.",
        background: true,
      });
      expect(queued.status).toBe("queued");
      const polled = await eventually("the end", async () => {
        const shown = await client.responses.retrieve(queued.id);
        return shown.status === "queued" || shown.status === "in_progress" ? undefined : shown;
      });
      expect([polled.id, polled.status, polled.output_text.includes("Hi.")]).toEqual([queued.id, "completed", true]);
      const slow = await client.responses.create({ model: "openai-compatible/slow", input: "Hi.", background: true });
      expect((await client.responses.cancel(slow.id)).status).toBe("cancelled");
    });
  });
}

describe("stored responses, ai 6 with openai(…) and its defaults", () => {
  const get_weather = tool({
    description: GET_WEATHER.description,
    inputSchema: jsonSchema<{ city: string }>(PARAMETERS),
    execute: ({ city }) => `weather of ${city}`,
  });

  test.each(RESPONSES_KINDS)(
    "R13, H02 at %s: its loop refers to the thoughts that a model requires back",
    async (kind) => {
      const sent: string[] = [];
      const openai = createOpenAI({
        baseURL: `${harness.gateway.url}/v1`,
        apiKey: harness.gateway.key,
        fetch: Object.assign(
          (url: string | URL | Request, init?: RequestInit) => {
            sent.push(String(init?.body));
            return fetch(url, init);
          },
          { preconnect: fetch.preconnect },
        ),
      });
      const asking = {
        model: openai(`${kind}/strict-thinker`),
        prompt: "Please use get_weather for Lisbon.",
        tools: { get_weather },
        stopWhen: stepCountIs(4),
        maxRetries: 0,
        providerOptions: { openai: { reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true } },
      };
      const looped = await generateText(asking);
      expect(looped.text).toContain("get_weather answered “weather of Lisbon”");
      expect(sent.at(-1)).toContain('"type":"item_reference"');
      expect(await streamText(asking).text).toContain("get_weather answered “weather of Lisbon”");
    },
  );
});
