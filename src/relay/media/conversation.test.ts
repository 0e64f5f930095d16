import { describe, expect, test } from "bun:test";
import type { CallOptions } from "../../../testing/build-call.ts";
import type { Script } from "../../../testing/memory-network.ts";
import type { DialectName } from "../../canon/dialect-name.ts";
import { answers, BLOCKED, ImageGateway, PNG, PRICE_NANO_USD, refuses, SECRET } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests({
  config: { retention: { max_total_mb: 20, max_project_mb: 20 } },
});
const ask = (dialect: DialectName, options: CallOptions = {}) =>
  images.harness.call(dialect, { model: "test/painter", ...options });

const USAGE = { input_tokens: 20, output_tokens: 100 };
const after =
  (ms: number, script: Script): Script =>
  async (reply, request) => {
    await images.harness.clock.sleep(ms);
    return script(reply, request);
  };

interface ChatAnswer {
  choices: { message: { images?: { image_url: { url: string } }[]; refusal?: string }; finish_reason: string }[];
  usage: { completion_tokens: number; cost?: number };
}

describe("contract 2.6: images in a conversation", () => {
  test("are in the message of a chat completion, and billed by their number", async () => {
    images.play(images.paints(1_000, PNG, { usage: USAGE }));
    const answer = await ask("chat");
    expect([answer.status, answer.endMs]).toEqual([200, 1_000]);
    const { choices } = JSON.parse(answer.text) as ChatAnswer;
    expect(choices[0]?.message.images?.map(({ image_url }) => image_url.url)).toEqual([`data:image/png;base64,${PNG}`]);
    expect(choices[0]?.finish_reason).toBe("stop");
    expect(await images.harness.receipt(answer)).toMatchObject({
      usage: { images: 1 },
      cost_nano_usd: PRICE_NANO_USD,
      usage_source: "measured",
      first_content_ms: 1_000,
    });
  });

  test("tokens that the host reports are in the response's usage, and the cost equals the receipt's", async () => {
    images.play(images.paints(0, PNG, { usage: USAGE }));
    const { usage } = JSON.parse(
      (await ask("chat", { model: "test/tokens", body: { usage: { include: true } } })).text,
    ) as ChatAnswer;
    expect(usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 100, cost: (20 * 5 + 100 * 40) / 1e6 });
    expect(await images.rows()).toMatchObject([{ cost_nano_usd: 4_100_000 }]);
    images.play(images.paints());
    // The host reports none, so the client gets none.
    expect(JSON.parse((await ask("chat")).text)).not.toHaveProperty("usage");
  });

  test("are inline data of generateContent, one for each requested candidate", async () => {
    images.play(images.paints());
    const { text, status } = await ask("genai", { body: { generationConfig: { candidateCount: 2 } } });
    const { candidates } = JSON.parse(text) as { candidates: { content: { parts: object[] }; finishReason: string }[] };
    expect(status).toBe(200);
    const part = { inlineData: { mimeType: "image/png", data: PNG } };
    expect(candidates[0]?.content.parts).toEqual([part, part]);
    expect(await images.rows()).toMatchObject([{ usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD }]);
  });

  test("contract 2.10: are stored for an answer of the messages protocol, whose text holds their URL", async () => {
    images.play(images.paints());
    const answer = await ask("messages");
    const { content } = JSON.parse(answer.text) as { content: { type: string; text: string }[] };
    const url = /^!\[image\]\((http[^)]+)\)$/.exec(content[0]?.text ?? "")?.[1] ?? "";
    const file = await images.harness.get(url);
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "image/png"]);
    const { fields } = await images.harness.receipt(answer);
    expect(fields.map(({ path, action }) => `${path} ${action}`)).toEqual([
      "max_tokens dropped",
      "answer.content approximated",
    ]);
  });

  test("decision 0019: no provider is called where an image could not be stored", async () => {
    await images.emptyStore();
    await images.fillStore(13);
    images.play(images.paints());
    await images.logged("");
    const { status, text } = await ask("messages");
    expect([status, text]).toEqual([529, expect.stringContaining("file store")]);
    expect(images.sent).toEqual([]);
    expect(await images.logged("To fix this")).toHaveLength(1);
    // The other protocols need no store.
    expect((await ask("chat")).status).toBe(200);
    await images.emptyStore();
    await images.fillStore(11);
    expect((await ask("messages")).status).toBe(200);
    await images.emptyStore();
  });

  test("the conversation's extra settings are noted, and refused where the call is strict", async () => {
    images.play(images.paints());
    const answer = await ask("chat", { body: { temperature: 0.5 } });
    expect(answer.headers.get("x-trivium-dropped")).toBe("temperature");
    const strict = await ask("chat", { body: { temperature: 0.5 }, headers: { "x-trivium-strict": "true" } });
    expect([strict.status, strict.text]).toEqual([400, expect.stringContaining("temperature")]);
    expect(images.sent).toHaveLength(1);
  });
});

describe("contract 2.6: streamed conversations", () => {
  test("have the image at their end, and the protocol's own end after it", async () => {
    images.play(images.paints());
    const chat = await ask("chat", { stream: true });
    expect(chat.text).toContain(PNG);
    expect(chat.text).toEndWith("data: [DONE]\n\n");
    expect([chat.headMs, chat.headers.get("content-type")]).toEqual([1_000, "text/event-stream"]);
    const genai = await ask("genai", { stream: true });
    expect(genai.text).toContain(PNG);
    expect(genai.text).toContain("STOP");
    const messages = await ask("messages", { stream: true });
    expect(messages.text).toContain("message_stop");
    expect(await images.rows()).toMatchObject(new Array(3).fill({ outcome: "ok", stream: 1, usage_images: 1 }));
  });

  test.each(["chat", "messages"] as const)("H15: %s keeps the connection alive while it waits", async (dialect) => {
    images.play(images.paints(40_000));
    const answer = await ask(dialect, { stream: true });
    expect(answer.headMs).toBeWithin(10_000, 10_200);
    expect(answer.chunks.length).toBeWithin(3, 6);
    expect(answer.chunks[0]?.text).not.toContain("image");
    expect(answer.text).toContain(dialect === "chat" ? PNG : "![image](");
    expect(answer.text).toContain(dialect === "chat" ? "[DONE]" : "message_stop");
    expect(answer.endMs).toBeWithin(40_000, 41_000);
  });

  test("H15: genai has no keep-alive: its headers wait, and its status stays real", async () => {
    images.play(after(40_000, refuses(429)));
    const answer = await ask("genai", { stream: true });
    expect([answer.status, answer.headMs]).toEqual([429, 40_000]);
  });

  test("a failure after the headers is reported in the stream", async () => {
    images.play(after(20_000, refuses(429)));
    const answer = await ask("chat", { stream: true });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("rate_limit")]);
    expect(answer.text).not.toContain(PNG);
    expect(await images.rows()).toMatchObject([{ outcome: "rate_limited", cost_nano_usd: 0 }]);
  });
});

describe("contract 7: images that are not made", () => {
  test.each([
    ["chat", "content_filter"],
    ["messages", "refusal"],
    ["genai", "IMAGE_SAFETY"],
  ] as const)("a blocked prompt has the finish reason of %s", async (dialect, reason) => {
    images.play(refuses(400, { ...BLOCKED, message: `not for ${SECRET}` }));
    const { status, text } = await ask(dialect);
    expect([status, text]).toEqual([200, expect.stringContaining(reason)]);
    expect(text).toContain("not for");
    if (dialect === "genai") expect(text).toContain(`"finishMessage":"not for`);
    expect(text).not.toContain(SECRET);
    expect(await images.rows()).toMatchObject([{ outcome: "ok", usage_images: null, cost_nano_usd: 0 }]);
  });

  test("one that failed among others is left out", async () => {
    images.play(images.paints(), refuses(500));
    const answer = await ask("genai", { model: "test/one-by-one", body: { generationConfig: { candidateCount: 2 } } });
    const { candidates } = JSON.parse(answer.text) as {
      candidates: { content: { parts: object[] }; finishReason: string }[];
    };
    expect(candidates[0]?.content.parts).toHaveLength(1);
    expect(candidates[0]?.finishReason).toContain("STOP");
    expect(answer.text).not.toContain("finishMessage");
    expect(await images.rows()).toMatchObject([{ usage_images: 1 }]);
  });

  test("if one is blocked and one fails, the response has the first reason", async () => {
    const failed = { error: { code: "InternalServiceError", message: "out of memory" } };
    const blocked = { error: { code: "OutputImageSensitiveContentDetected", message: "held back" } };
    images.play(answers({ data: [failed, blocked] }));
    const answer = await ask("genai", { model: "test/batch", body: { generationConfig: { candidateCount: 2 } } });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("IMAGE_SAFETY")]);
    expect(answer.text).toContain("out of memory");
    expect(images.sent).toHaveLength(1);
  });

  test("a failing host is reported in the client's protocol", async () => {
    images.play(refuses(500));
    const { status, text } = await ask("messages");
    expect([status, text]).toEqual([502, expect.stringContaining("api_error")]);
    expect(await images.rows()).toMatchObject([{ outcome: "upstream_failed" }]);
  });

  test("a file that cannot be stored after all is an error, and generated images are billed", async () => {
    images.play(images.paints());
    const { files } = images.harness.gateway;
    const keep = files.keep.bind(files);
    files.keep = () => Promise.reject(new Error("the disk is gone"));
    const { status } = await ask("messages");
    files.keep = keep;
    expect(status).toBe(500);
    expect(await images.rows()).toMatchObject([
      { outcome: "internal", usage_source: "measured", usage_images: 1, cost_nano_usd: PRICE_NANO_USD },
    ]);
  });

  test("a prompt that is missing is rejected by the gateway, and has a receipt", async () => {
    images.play(images.paints());
    const { status, headers } = await ask("chat", { body: { messages: [{ role: "user", content: "  " }] } });
    expect([status, images.sent]).toEqual([400, []]);
    expect(headers.get("x-trivium-receipt")).toStartWith("rcp_");
    expect(await images.rows()).toMatchObject([{ outcome: "invalid_request", cost_nano_usd: 0 }]);
  });
});

test("the host's response is read even if it contains no image", async () => {
  images.play(answers({ created: 1, data: [{ b64_json: "bm8gaW1hZ2U=" }] }));
  expect((await ask("chat")).text).toContain("bm8gaW1hZ2U=");
});
