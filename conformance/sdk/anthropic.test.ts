import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic1 from "@anthropic-ai/sdk";
import {
  ANTHROPIC_0,
  ANTHROPIC_1,
  MESSAGES_DOORS,
  type MessagesBody,
  type MessagesGeneration,
  promptTokens,
  type ReadBlock,
  textOf,
} from "./anthropic-clients.ts";
import {
  collect,
  expectUpstreamStopped,
  extra,
  failureOf,
  hasReachedUpstream,
  receiptOf,
  type SimulatedGateway,
  startSimulatedGateway,
} from "./support.ts";
import { upstreamOf } from "./upstreams.ts";

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

function answers<Block extends ReadBlock>({ version, errors, connect }: MessagesGeneration<Block>): void {
  for (const { name, path, kind } of MESSAGES_DOORS) {
    describe(`anthropic ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "messages");
      const open = () =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const asking = (content: string, model = "standard"): MessagesBody<Block> => ({
        model: `${kind}/${model}`,
        max_tokens: 2000,
        system: "Be brief.",
        messages: [{ role: "user", content }],
      });

      test("contract 2.11: a non-streamed response", async () => {
        const message = await open().messages.create(asking("Where do three roads meet?"));
        expect(message).toMatchObject({
          type: "message",
          role: "assistant",
          model: `${kind}/standard`,
          stop_reason: "end_turn",
        });
        expect(textOf(message.content)).toContain("Where do three roads meet?");
        expect(message.usage.input_tokens).toBeGreaterThan(0);
        expect(message.usage.output_tokens).toBeGreaterThan(0);
        expect(message._request_id).toMatch(/^req_/);
      });

      test("contract 6.1: a stream has the protocol's events in order, and adds up to the same response", async () => {
        const client = open();
        const whole = await client.messages.create(asking("Stream this, please."));
        const events = await collect(await client.messages.create({ ...asking("Stream this, please."), stream: true }));
        const types = events.map((event) => event.type).filter((type) => type !== "ping");
        expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop",
        ]);
        expect(events.map((event) => extra(event.delta, "text") ?? "").join("")).toBe(textOf(whole.content));
        const start = events.find((event) => event.type === "message_start")?.message;
        expect(start?.model).toBe(`${kind}/standard`);
        // Hosts of other protocols count the prompt at the end of a stream: this is an estimate (H11).
        if (upstream.native) expect(start?.usage.input_tokens).toBe(whole.usage.input_tokens);
        else expect(start?.usage.input_tokens).toBeGreaterThan(0);
      });

      test("contract 6.1, sdks 2.3: message_delta has its usage where the contract and where the packages read it", async () => {
        const events = await collect(await open().messages.create({ ...asking("Count."), stream: true }));
        const last = events.find((event) => event.type === "message_delta");
        expect(extra(last?.delta, "stop_reason")).toBe("end_turn");
        expect(last?.usage?.output_tokens).toBeGreaterThan(0);
        expect(extra(last?.delta, "usage")).toMatchObject({ output_tokens: last?.usage?.output_tokens });
      });

      test("sdks 2.3: the package's stream helper adds it up, usage included", async () => {
        const client = open();
        const whole = await client.messages.create(asking("Add me up."));
        const message = await client.messages.stream(asking("Add me up.")).finalMessage();
        expect(textOf(message.content)).toBe(textOf(whole.content));
        expect(message).toMatchObject({
          model: `${kind}/standard`,
          stop_reason: "end_turn",
          usage: { output_tokens: whole.usage.output_tokens },
        });
        expect(promptTokens(message.usage)).toBe(promptTokens(whole.usage));
      });

      test("sdks 2.2: tokens are counted as the response will bill them", async () => {
        const client = open();
        const { max_tokens: _, ...prompt } = asking("How many tokens is this?");
        const counted = await client.messages.countTokens(prompt);
        const answer = await client.messages.create(asking("How many tokens is this?"));
        if (upstream.counts) expect(counted.input_tokens).toBe(promptTokens(answer.usage));
        else expect(counted.input_tokens).toBeWithin(1, 4 * promptTokens(answer.usage));
      });

      test("choices 3: more tokens than the model supports are clamped, and the receipt says so", async () => {
        const body = { ...asking("As much as you can."), max_tokens: 128_000, stream: true as const };
        const { data, response } = await open().messages.create(body).withResponse();
        await collect(data);
        const receipt = await receiptOf(harness, response.headers.get("x-trivium-receipt"));
        expect(receipt.fields).toContainEqual(expect.objectContaining({ path: "max_tokens", action: "approximated" }));
      });

      test("sdks 2.1: a beta call arrives, with its betas if the host knows them", async () => {
        const betas = ["context-management-2025-06-27", "interleaved-thinking-2025-05-14"];
        const message = await open().beta.messages.create({
          model: `${kind}/standard`,
          max_tokens: 500,
          messages: [{ role: "user", content: "In beta." }],
          betas,
        });
        expect(textOf(message.content)).toContain("In beta.");
        const { headers } = harness.simulator.stats().last ?? {};
        if (upstream.native) expect(headers?.["anthropic-beta"]).toBe(betas.join(","));
        else expect(headers).not.toHaveProperty("anthropic-beta");
      });

      test("contract 2.9: models are listed, paged through, and shown one by one", async () => {
        const client = open();
        const listed = await client.models.list();
        const paged = await collect(client.models.list());
        expect(paged.map((model) => model.id)).toEqual(listed.data.map((model) => model.id));
        const one = await client.models.retrieve(`${kind}/standard`);
        expect(one).toMatchObject({ id: `${kind}/standard`, type: "model", display_name: "Simulator Standard" });
        expect(listed.data.find((model) => model.id === one.id)).toEqual(one);
        const missing = await failureOf(client.models.retrieve(`${kind}/standrad`));
        expect(missing.constructor).toBe(errors.notFound);
      });

      test("H13: leaving the loop in mid-stream stops the upstream", async () => {
        let receipt: string | null = null;
        await expectUpstreamStopped(harness, async () => {
          const body = { ...asking("A long story, please.", "slow"), stream: true as const };
          const { data, response } = await open().messages.create(body).withResponse();
          receipt = response.headers.get("x-trivium-receipt");
          for await (const event of data) if (event.type === "content_block_delta") break;
        });
        expect(await receiptOf(harness, receipt)).toMatchObject({ stream: true, usage_source: "partial" });
      });

      test("H13: an abort in mid-stream, and before the first byte, stops the upstream", async () => {
        await expectUpstreamStopped(harness, async () => {
          const helper = open().messages.stream(asking("A long story, please.", "slow"));
          const read = async () => {
            for await (const event of helper) if (event.type === "content_block_delta") helper.abort();
          };
          expect((await failureOf(read())).constructor).toBe(errors.aborted);
        });
        await expectUpstreamStopped(harness, async () => {
          const { signal, abort } = abortable();
          const failure = failureOf(open().messages.create(asking("Hello?", "slow-first-byte-3"), { signal }));
          await hasReachedUpstream(harness);
          abort();
          expect((await failure).constructor).toBe(errors.aborted);
        });
      });

      test("choices 6: every response has a receipt", async () => {
        const client = open();
        const whole = await client.messages.create(asking("Receipt, please.")).withResponse();
        const receipt = await receiptOf(harness, whole.response.headers.get("x-trivium-receipt"));
        expect(receipt).toMatchObject({
          model: `${kind}/standard`,
          provider: `patient-${kind}`,
          lane: upstream.native ? "native" : "translated",
          stream: false,
          usage_source: "measured",
          stop: { unified: "stop", raw: upstream.endWord },
        });
        expect(receipt.usage["output"]).toBe(whole.data.usage.output_tokens);
        const streamed = await client.messages.create({ ...asking("Receipt, please."), stream: true }).withResponse();
        await collect(streamed.data);
        const second = await receiptOf(harness, streamed.response.headers.get("x-trivium-receipt"));
        expect(second).toMatchObject({ stream: true, usage_source: "measured" });
        const all = ({ usage }: typeof receipt) => [
          (usage["input"] ?? 0) + (usage["cache_read"] ?? 0),
          (usage["output"] ?? 0) + (usage["reasoning"] ?? 0),
        ];
        expect(all(second)).toEqual(all(receipt));
        const raw = await client.messages.create(asking("Receipt, please.")).asResponse();
        expect(raw.headers.get("x-trivium-receipt")).toMatch(/^rcp_/);
      });
    });
  }
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

answers(ANTHROPIC_1);
answers(ANTHROPIC_0);

// Generation 0.60 is older than structured output.
for (const { name, path, kind } of MESSAGES_DOORS) {
  test(`anthropic 1.8, ${name} > sdks 2.2: structured output follows its schema`, async () => {
    const client = new Anthropic1({
      baseURL: `${harness.gateway.url}${path}`,
      apiKey: harness.gateway.key,
      maxRetries: 0,
    });
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, degrees: { type: "integer" }, sunny: { type: "boolean" } },
      required: ["city", "degrees", "sunny"],
      additionalProperties: false,
    } as const;
    const message = await client.messages.create({
      model: `${kind}/standard`,
      max_tokens: 500,
      messages: [{ role: "user", content: "The weather in Lisbon, as JSON." }],
      output_config: { format: { type: "json_schema", schema } },
    });
    expect(JSON.parse(textOf(message.content.filter((block) => block.type === "text")))).toEqual({
      city: expect.any(String),
      degrees: expect.any(Number),
      sunny: expect.any(Boolean),
    });
  });
}
