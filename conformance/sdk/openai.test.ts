import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT_DOORS, CHAT_GENERATIONS, type ChatBody, joined, onlyMessage } from "./openai-clients.ts";
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

for (const { version, errors, connect } of CHAT_GENERATIONS) {
  for (const { name, path, kind } of CHAT_DOORS) {
    describe(`openai ${version}, ${name}`, () => {
      const upstream = upstreamOf(kind, "chat");
      const open = () =>
        connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const asking = (content: string, model = "standard"): ChatBody => ({
        model: `${kind}/${model}`,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content },
        ],
      });

      test("contract 2.13: a non-streamed response", async () => {
        const completion = await open().chat.completions.create(asking("Where do three roads meet?"));
        expect(completion).toMatchObject({ object: "chat.completion", model: `${kind}/standard` });
        expect(completion.choices[0]?.finish_reason).toBe("stop");
        expect(onlyMessage(completion).content).toContain("Where do three roads meet?");
        const usage = completion.usage;
        expect(usage?.completion_tokens).toBeGreaterThan(0);
        expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
        expect(completion._request_id).toMatch(/^req_/);
      });

      test("sdks 3.1: a stream adds up to the same response", async () => {
        const client = open();
        const whole = onlyMessage(await client.chat.completions.create(asking("Stream this, please.")));
        const chunks = await collect(
          await client.chat.completions.create({ ...asking("Stream this, please."), stream: true }),
        );
        expect(chunks.length).toBeGreaterThan(5);
        expect(joined(chunks, (delta) => delta.content)).toBe(whole.content ?? "");
        expect(chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason ?? "")).join("")).toBe(
          "stop",
        );
        expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([`${kind}/standard`]));
      });

      test("choices 3: the usage chunk is sent on request, and only then", async () => {
        const client = open();
        const without = await collect(await client.chat.completions.create({ ...asking("Count."), stream: true }));
        expect(without.filter((chunk) => chunk.usage || chunk.choices.length === 0)).toEqual([]);
        const body = { ...asking("Count."), stream_options: { include_usage: true } };
        const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
        const last = chunks.at(-1);
        expect(last?.choices).toEqual([]);
        const { usage } = await client.chat.completions.create(asking("Count."));
        expect(last?.usage).toMatchObject({
          prompt_tokens: usage?.prompt_tokens,
          completion_tokens: usage?.completion_tokens,
          total_tokens: usage?.total_tokens,
        });
      });

      test("sdks 3.1: the package's stream helper adds it up too", async () => {
        const client = open();
        const helped = client.addUp({ ...asking("Add me up."), stream_options: { include_usage: true } });
        const completion = await helped.finalChatCompletion();
        expect(completion.choices[0]?.finish_reason).toBe("stop");
        expect(completion.usage?.completion_tokens).toBeGreaterThan(0);
        const whole = await client.chat.completions.create(asking("Add me up."));
        expect(onlyMessage(completion).content).toBe(onlyMessage(whole).content);
      });

      test("contract 2.12: structured output follows its schema", async () => {
        const schema = {
          type: "object",
          properties: { city: { type: "string" }, degrees: { type: "integer" }, sunny: { type: "boolean" } },
          required: ["city", "degrees", "sunny"],
          additionalProperties: false,
        };
        const completion = await open().chat.completions.create({
          ...asking("The weather in Lisbon, as JSON."),
          response_format: { type: "json_schema", json_schema: { name: "weather", strict: true, schema } },
        });
        expect(JSON.parse(onlyMessage(completion).content ?? "")).toEqual({
          city: expect.any(String),
          degrees: expect.any(Number),
          sunny: expect.any(Boolean),
        });
      });

      test("contract 2.9: models are listed, paged through, and shown one by one", async () => {
        const client = open();
        const listed = await client.models.list();
        const paged = await collect(client.models.list());
        expect(paged.map((model) => model.id)).toEqual(listed.data.map((model) => model.id));
        expect(paged.map((model) => model.id)).toContain(`${kind}/standard`);
        const one = await client.models.retrieve(`${kind}/standard`);
        expect(one).toMatchObject({ id: `${kind}/standard`, object: "model", owned_by: kind });
        expect(listed.data.find((model) => model.id === one.id)).toEqual(one);
        expect(extra(one, "display_name")).toBe("Simulator Standard");
        const missing = await failureOf(client.models.retrieve(`${kind}/standrad`));
        expect(missing.constructor).toBe(errors.NotFoundError);
        expect(missing).toMatchObject({ status: 404, code: "model_not_found" });
      });

      test("choices 3: max_tokens is refused at the contract door with its replacement's name, and adapted at the other", async () => {
        const call = open().chat.completions.create({ ...asking("Ten at most."), max_tokens: 10 });
        if (path === "/api/v1") {
          const failure = await failureOf(call);
          expect(failure.constructor).toBe(errors.BadRequestError);
          expect(failure).toMatchObject({ status: 400, code: "unsupported_parameter", param: "max_tokens" });
          expect(failure.message).toContain("max_completion_tokens");
        } else {
          const completion = await call;
          expect(completion.choices[0]?.finish_reason).toBe("length");
          expect(completion.usage?.completion_tokens).toBe(10);
        }
      });

      test("H13: leaving the loop in mid-stream stops the upstream", async () => {
        let receipt: string | null = null;
        await expectUpstreamStopped(harness, async () => {
          const body = { ...asking("A long story, please.", "slow"), stream: true as const };
          const { data, response } = await open().chat.completions.create(body).withResponse();
          receipt = response.headers.get("x-trivium-receipt");
          for await (const chunk of data) if (chunk.choices[0]?.delta.content) break;
        });
        expect(await receiptOf(harness, receipt)).toMatchObject({ stream: true, usage_source: "partial" });
      });

      test("H13: an abort signal in mid-stream, and before the first byte, stops the upstream", async () => {
        await expectUpstreamStopped(harness, async () => {
          const controller = new AbortController();
          const body = { ...asking("A long story, please.", "slow"), stream: true as const };
          const stream = await open().chat.completions.create(body, { signal: controller.signal });
          for await (const chunk of stream) if (chunk.choices[0]?.delta.content) controller.abort();
        });
        await expectUpstreamStopped(harness, async () => {
          const controller = new AbortController();
          const call = open().chat.completions.create(asking("Hello?", "slow-first-byte-3"), {
            signal: controller.signal,
          });
          const failure = failureOf(call);
          await hasReachedUpstream(harness);
          controller.abort();
          expect((await failure).constructor).toBe(errors.APIUserAbortError);
        });
      });

      test("choices 6: every response has a receipt", async () => {
        const client = open();
        const whole = await client.chat.completions.create(asking("Receipt, please.")).withResponse();
        const receipt = await receiptOf(harness, whole.response.headers.get("x-trivium-receipt"));
        expect(receipt).toMatchObject({
          model: `${kind}/standard`,
          provider: `patient-${kind}`,
          lane: upstream.native ? "native" : "translated",
          stream: false,
          usage_source: "measured",
          stop: { unified: "stop", raw: upstream.endWord },
        });
        expect(receipt.usage["output"]).toBe(whole.data.usage?.completion_tokens ?? -1);
        const body = { ...asking("Receipt, please."), stream: true as const };
        const streamed = await client.chat.completions.create(body).withResponse();
        await collect(streamed.data);
        const second = await receiptOf(harness, streamed.response.headers.get("x-trivium-receipt"));
        expect(second).toMatchObject({ stream: true, usage_source: "measured" });
        expect(second.usage["output"]).toBe(whole.data.usage?.completion_tokens ?? -1);
        const raw = await client.chat.completions.create(asking("Receipt, please.")).asResponse();
        expect(raw.headers.get("x-trivium-receipt")).toMatch(/^rcp_/);
      });
    });
  }
}
