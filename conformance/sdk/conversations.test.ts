import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { RESPONSES_KINDS } from "./responses-clients.ts";
import { collect, failureOf, type SimulatedGateway, startSimulatedGateway } from "./support.ts";

let harness: SimulatedGateway;
let client: OpenAI;
beforeAll(async () => {
  harness = await startSimulatedGateway();
  const { url, key } = harness.gateway;
  client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
});
afterAll(() => harness.stop());

const textOf = (item: unknown): string => (item as { content?: { text?: string }[] }).content?.[0]?.text ?? "";

describe("decision 0109: conversations of OpenAI's SDK", () => {
  test.each(RESPONSES_KINDS)("turns at %s, streamed and not, are listed in order", async (kind) => {
    const conversation = await client.conversations.create({
      items: [{ type: "message", role: "user", content: "My name is Ada." }],
      metadata: { topic: "demo" },
    });
    const model = `${kind}/standard`;
    const first = await client.responses.create({ model, input: "Hello.", conversation: conversation.id });
    expect(first.conversation).toEqual({ id: conversation.id });
    const streamed = client.responses.stream({ model, input: "Again.", conversation: { id: conversation.id } });
    const second = await streamed.finalResponse();
    expect([second.status, second.conversation]).toEqual(["completed", { id: conversation.id }]);
    const items = await collect(client.conversations.items.list(conversation.id, { order: "asc", limit: 2 }));
    expect([items.length, new Set(items.map(({ id }) => id)).size]).toEqual([items.length, items.length]);
    const messages = items.filter(({ type }) => type === "message");
    expect(messages.map((item) => (item as { role: string }).role)).toEqual([
      "user",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(textOf(messages[0])).toBe("My name is Ada.");
    expect(textOf(messages[2])).toBe(first.output_text);
  });

  test("create, retrieve, update, items, delete", async () => {
    const created = await client.conversations.create();
    expect(created).toMatchObject({ object: "conversation", metadata: {} });
    expect(await client.conversations.retrieve(created.id)).toEqual(created);
    const updated = await client.conversations.update(created.id, { metadata: { a: "b" } });
    expect(updated.metadata).toEqual({ a: "b" });
    const added = await client.conversations.items.create(created.id, {
      items: [{ role: "user", content: "One." }],
      include: ["reasoning.encrypted_content"],
    });
    const [item] = added.data;
    const at = { conversation_id: created.id };
    const shown = await client.conversations.items.retrieve(item?.id ?? "", {
      ...at,
      include: ["reasoning.encrypted_content"],
    });
    expect(shown).toEqual(item as typeof shown);
    expect((await client.conversations.items.delete(item?.id ?? "", at)).id).toBe(created.id);
    expect(await failureOf(client.conversations.items.retrieve(item?.id ?? "", at))).toMatchObject({ status: 404 });
    expect(await client.conversations.delete(created.id)).toEqual({
      id: created.id,
      object: "conversation.deleted",
      deleted: true,
    });
    expect(await failureOf(client.conversations.retrieve(created.id))).toMatchObject({
      status: 404,
      code: "conversation_not_found",
    });
    const turn = client.responses.create({ model: "openai/standard", input: "Hi", conversation: created.id });
    expect(await failureOf(turn)).toMatchObject({ status: 400, param: "conversation" });
  });
});

test("decision 0109: the AI SDK continues a conversation, streamed and not", async () => {
  const { url, key } = harness.gateway;
  const { id } = await client.conversations.create();
  const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: key })("anthropic/standard");
  const providerOptions = { openai: { conversation: id } };
  const first = await generateText({ model, prompt: "One.", providerOptions, maxRetries: 0 });
  const second = streamText({ model, prompt: "Two.", providerOptions, maxRetries: 0 });
  await second.consumeStream();
  const items = await collect(client.conversations.items.list(id, { order: "asc" }));
  const texts = items.filter(({ type }) => type === "message").map(textOf);
  expect(texts).toEqual(["One.", first.text, "Two.", await second.text]);
});

describe("decision 0109: stored completions of OpenAI's SDK", () => {
  test.each(RESPONSES_KINDS)("at %s: created, streamed, listed, changed and deleted", async (kind) => {
    const body = {
      model: `${kind}/standard`,
      messages: [{ role: "user" as const, content: "Hello." }],
      store: true,
      metadata: { kind },
    };
    const created = await client.chat.completions.create(body);
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    const listed = await collect(client.chat.completions.list({ metadata: { kind }, limit: 1, order: "desc" }));
    expect(listed.map(({ id }) => id)).toEqual([streamed.id, created.id]);
    const shown = await client.chat.completions.retrieve(streamed.id);
    expect(shown.choices[0]?.message.content).toBe(streamed.choices[0]?.message.content ?? "");
    expect(await client.chat.completions.retrieve(created.id)).toEqual({ ...created, metadata: { kind } } as never);
    const messages = await collect(client.chat.completions.messages.list(created.id));
    expect(messages).toEqual([
      { id: `${created.id}-0`, role: "user", content: "Hello.", content_parts: null },
    ] as never);
    const updated = await client.chat.completions.update(created.id, { metadata: { done: "yes" } });
    expect(updated).toMatchObject({ id: created.id, metadata: { done: "yes" } });
    expect(await client.chat.completions.delete(created.id)).toMatchObject({ deleted: true });
    expect(await failureOf(client.chat.completions.retrieve(created.id))).toMatchObject({ status: 404 });
    await client.chat.completions.delete(streamed.id);
  });
});
