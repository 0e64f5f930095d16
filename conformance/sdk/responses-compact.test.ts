import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAi from "openai";
import { wrapOpaque } from "../../src/canon/opaque.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { failureOf } from "./support.ts";

/** The vendor's host: it compacts, and accepts what it has sealed. */
const asked: { path: string; body: Record<string, unknown> }[] = [];
const SEALED = { id: "cmp_1", type: "compaction", encrypted_content: "sealed" };
const USAGE = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
let host: Bun.Server<undefined>;
let gateway: TestGateway;

beforeAll(async () => {
  host = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const body = (await request.json()) as Record<string, unknown>;
      asked.push({ path: pathname, body });
      const compacts = pathname.endsWith("/compact");
      const content = [{ type: "output_text", text: "Hello.", annotations: [] }];
      const output = compacts
        ? [SEALED]
        : [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content }];
      const object = compacts ? "response.compaction" : "response";
      return Response.json({
        id: "resp_1",
        object,
        created_at: 1,
        status: "completed",
        model: "m",
        output,
        usage: USAGE,
      });
    },
  });
  const url = `http://127.0.0.1:${host.port}/v1`;
  const price = (value: number) => [{ value, unit: "perMTokens", currency: "USD" }];
  const facts = {
    pricings: { prompt: price(1), completion: price(10) },
    context_length: 100_000,
    max_output_tokens: 10_000,
  };
  gateway = await startTestGateway({
    config: {
      providers: {
        vendor: { kind: "openai", base_url: url, api_key: "k", dialects: ["responses"] },
        "chat-alone": { kind: "openai", base_url: url, api_key: "k" },
        other: { kind: "anthropic", base_url: url, api_key: "k" },
      },
      models: [
        { id: "acme/vendor", ...facts, offers: [{ provider: "vendor", model: "m" }] },
        { id: "acme/chat", ...facts, offers: [{ provider: "chat-alone", model: "m" }] },
        { id: "acme/other", ...facts, offers: [{ provider: "other", model: "m" }] },
      ],
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop(true);
});

const open = (root = "/v1") => new OpenAi({ baseURL: `${gateway.url}${root}`, apiKey: gateway.key, maxRetries: 0 });
const QUESTION = { role: "user" as const, content: "Hello" };

test.each(["/v1", "/api/v1"])(
  "openai 7 at %s: the vendor's host compacts, and the receipt has its usage and price",
  async (root) => {
    const { data, response } = await open(root)
      .responses.compact({ model: "acme/vendor", input: [QUESTION] })
      .withResponse();
    expect(data.object).toBe("response.compaction");
    expect(data.output).toMatchObject([SEALED]);
    expect([data.id === "resp_1", /^resp_[\w-]{20,}$/.test(data.id)]).toEqual([false, true]);
    expect(data).toMatchObject({ model: "acme/vendor" });
    expect(asked.at(-1)).toMatchObject({ path: "/v1/responses/compact", body: { model: "m", input: [QUESTION] } });
    const receipt = await gateway.receipt(response);
    expect(receipt.usage).toMatchObject({ input: 100, output: 20 });
    expect(receipt.cost_nano_usd).toBe(300_000);
    const next = [...data.output, QUESTION] as OpenAi.Responses.ResponseInput;
    const answer = await open(root).responses.create({ model: "acme/vendor", input: next });
    expect(answer.output_text).toBe("Hello.");
    expect(asked.at(-1)?.body["input"]).toMatchObject([SEALED, QUESTION]);
  },
);

test("H01: reasoning of another family is dropped, and the receipt says so", async () => {
  const wrapped = wrapOpaque({ origin: "messages", kind: "signature", value: "s" });
  const thought = { type: "reasoning" as const, id: "rs_1", summary: [], encrypted_content: wrapped };
  const { response } = await open()
    .responses.compact({ model: "acme/vendor", input: [QUESTION, thought] })
    .withResponse();
  expect(asked.at(-1)?.body["input"]).toEqual([QUESTION]);
  expect((await gateway.receipt(response)).fields).toMatchObject([{ path: "input[1]", action: "dropped" }]);
});

test("decision 0087: items that repeat an earlier response are sent without its host's ids, as to responses", async () => {
  const failed = { type: "image_generation_call", id: "ig_1", status: "failed", result: null };
  const ran = {
    type: "code_interpreter_call",
    id: "ci_1",
    status: "completed",
    code: "print(1)",
    container_id: "cntr_1",
    outputs: [{ type: "logs", logs: "1" }],
  };
  const wrapped = wrapOpaque({ origin: "messages", kind: "signature", value: "s" });
  const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: wrapped };
  const input = [QUESTION, failed, ran, thought] as unknown as OpenAi.Responses.ResponseInput;
  const { response } = await open().responses.compact({ model: "acme/vendor", input }).withResponse();
  const upstream = JSON.stringify(asked.at(-1)?.body["input"]);
  expect([upstream.includes("cntr_1"), upstream.includes("print(1)")]).toEqual([false, true]);
  const { fields } = await gateway.receipt(response);
  expect(fields.map(({ path, action }) => `${path} ${action}`)).toEqual([
    "input[1] dropped",
    "input[2].container_id dropped",
    "input[3] dropped",
  ]);
});

test("a model whose hosts do not compact is refused in one sentence, and nothing is made up", async () => {
  const error = await failureOf(open().responses.compact({ model: "acme/other", input: [QUESTION] }));
  expect(error).toMatchObject({ status: 400, param: "model", code: "model_not_supported" });
  expect(error.message).toContain("None of the providers of acme/other (other) produces compactions with it.");
});

test("a host of the vendor's kind that does not speak Responses is not called either", async () => {
  const before = asked.length;
  const error = await failureOf(open().responses.compact({ model: "acme/chat", input: [QUESTION] }));
  expect(error).toMatchObject({ status: 400, param: "model", code: "model_not_supported" });
  expect(error.message).toContain("None of the providers of acme/chat (chat-alone) produces compactions with it.");
  expect(asked).toHaveLength(before);
});

test("a response stored by the gateway cannot be compacted by its id", async () => {
  const body = { model: "acme/vendor" as const, input: [QUESTION], previous_response_id: "resp_x" };
  const error = await failureOf(open().responses.compact(body));
  expect(error).toMatchObject({ status: 400, param: "previous_response_id" });
});
