import { beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../../testing/eventually.ts";
import { bearer, MediaHostHarness } from "../../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../../json.ts";
import { sniffImage } from "../../../sniff-image.ts";
import { openaiMedia } from "../media.ts";

const GENERATIONS = "/openai/v1/images/generations";

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(openaiMedia);
});

function seen(base64: unknown): ReturnType<typeof sniffImage> {
  return sniffImage(new Uint8Array(Buffer.from(String(base64), "base64")));
}

function dataOf(body: JsonObject): JsonObject[] {
  return body.data as JsonObject[];
}

function errorOf(body: JsonObject): JsonObject {
  return body.error as JsonObject;
}

const generate = (body: JsonObject) =>
  harness.send(GENERATIONS, { body: { model: "gpt-image-2", prompt: "a cat", size: "128x64", ...body } });

async function streamed(body: JsonObject): Promise<{ event: string; data: JsonObject }[]> {
  const response = await harness.ask(GENERATIONS, { body: { ...body, stream: true } });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  return (await response.text())
    .trimEnd()
    .split("\n\n")
    .map((frame) => {
      const [event = "", data = ""] = frame.split("\n");
      return { event: event.replace("event: ", ""), data: JSON.parse(data.replace("data: ", "")) as JsonObject };
    });
}

describe("contract 2.4: images of gpt-image", () => {
  test("an image has the size and the format that were asked for, and the usage adds up", async () => {
    for (const format of ["png", "jpeg", "webp"]) {
      const { status, body } = await generate({ output_format: format, quality: "low", n: 2 });
      expect(status).toBe(200);
      expect(body).toMatchObject({ output_format: format, quality: "low", size: "128x64", background: "opaque" });
      expect(dataOf(body).map(({ b64_json }) => seen(b64_json))).toEqual(
        Array(2).fill({ mimeType: `image/${format}`, size: { width: 128, height: 64 } }),
      );
      expect(dataOf(body)[0]?.b64_json).not.toBe(String(dataOf(body)[1]?.b64_json));
      const usage = body.usage as Record<string, number>;
      expect(usage.total_tokens).toBe(Number(usage.input_tokens) + Number(usage.output_tokens));
      expect(body.usage).toMatchObject({ input_tokens_details: { image_tokens: 0, text_tokens: 2 } });
    }
  });

  test("a square of high quality counts as it was recorded", async () => {
    const { body } = await harness.send(GENERATIONS, { body: { model: "gpt-image-1", prompt: "a siamese cat" } });
    expect(body).toMatchObject({ size: "1024x1024", quality: "high", usage: { output_tokens: 4160 } });
  });

  test("the same request is answered with the same image", async () => {
    const [first, second] = [await generate({}), await generate({})];
    expect(first.body.data).toEqual(second.body.data ?? null);
  });

  const refused: [JsonObject, string, string][] = [
    [{ response_format: "b64_json" }, "response_format", "unknown_parameter"],
    [{ style: "vivid" }, "style", "unknown_parameter"],
    [{ seed: 1 }, "seed", "unknown_parameter"],
    [{ n: 11 }, "n", "integer_above_max_value"],
    [{ n: 0 }, "n", "integer_below_min_value"],
    [{ n: "2" }, "n", "invalid_type"],
    [{ size: "100x64" }, "size", "invalid_value"],
    [{ size: "256x64" }, "size", "invalid_value"],
    [{ size: "3856x2160" }, "size", "invalid_value"],
    [{ size: "large" }, "size", "invalid_value"],
    [{ model: "gpt-image-1.5", size: "128x128" }, "size", "invalid_value"],
    [{ quality: "hd" }, "quality", "invalid_value"],
    [{ output_format: "gif" }, "output_format", "invalid_value"],
    [{ output_compression: 50 }, "output_compression", "invalid_value"],
    [{ output_compression: 101, output_format: "jpeg" }, "output_compression", "integer_above_max_value"],
    [{ background: "transparent", output_format: "jpeg" }, "background", "invalid_value"],
    [{ moderation: "none" }, "moderation", "invalid_value"],
    [{ partial_images: 4, stream: true }, "partial_images", "integer_above_max_value"],
    [{ stream: "yes" }, "stream", "invalid_type"],
    [{ prompt: "" }, "prompt", "string_below_min_length"],
    [{ prompt: null }, "prompt", "invalid_type"],
    [{ model: "dall-e-3", size: "1024x1024", n: 2 }, "n", "integer_above_max_value"],
    [{ model: "dall-e-3", size: "256x256" }, "size", "invalid_value"],
    [{ model: "dall-e-2", size: "256x256", output_format: "png" }, "output_format", "unknown_parameter"],
    [{ model: "dall-e-2", size: "auto" }, "size", "invalid_value"],
    [{ model: "dall-e-2", size: "256x256", style: "vivid" }, "style", "unknown_parameter"],
  ];
  test.each(refused)("refuses %p", async (body, param, code) => {
    const answer = await generate(body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer.body)).toMatchObject({ param, code });
  });

  test("refuses wrong and missing keys, long prompts, unknown models, forms and other URLs", async () => {
    const body = { model: "gpt-image-2", prompt: "a cat" };
    expect((await harness.send(GENERATIONS, { body, headers: {} })).status).toBe(401);
    const wrong = await harness.send(GENERATIONS, { body, headers: bearer("a-wrong-key") });
    expect(wrong.status).toBe(401);
    expect(errorOf(wrong.body).code).toBe("invalid_api_key");
    const long = await generate({ prompt: "x".repeat(32_001) });
    expect([long.status, errorOf(long.body).code]).toEqual([400, "string_above_max_length"]);
    const unknown = await generate({ model: "gpt-image-9" });
    expect([unknown.status, errorOf(unknown.body).code]).toEqual([404, "model_not_found"]);
    expect((await harness.ask(GENERATIONS, { body: new FormData() })).status).toBe(400);
    expect(await harness.answerTo("/openai/v1/chat/completions", { method: "POST" })).toBeUndefined();
  });
});

describe("contract 6.3 and H12: images as a stream", () => {
  const body = { model: "gpt-image-2", prompt: "a cat", size: "64x64" };

  test.each([0, 1, 3])("%d partial images, then the whole with its usage", async (partials) => {
    const events = await streamed({ ...body, partial_images: partials });
    expect(events.map(({ event }) => event)).toEqual([
      ...Array<string>(partials).fill("image_generation.partial_image"),
      "image_generation.completed",
    ]);
    for (const [at, { event, data }] of events.entries()) {
      expect(data).toMatchObject({ type: event, size: "64x64", quality: "high", background: "opaque" });
      expect(data.partial_image_index).toBe(at < partials ? at : (undefined as never));
      expect(seen(data.b64_json)?.size).toEqual({ width: 64, height: 64 });
    }
    const usage = events.at(-1)?.data.usage as JsonObject;
    expect(Object.keys(usage).sort()).toEqual([
      "input_tokens",
      "input_tokens_details",
      "output_tokens",
      "total_tokens",
    ]);
  });

  test("a quick image shows less of its making than was asked for; several end one after the other", async () => {
    const quick = await streamed({ ...body, quality: "low", partial_images: 3 });
    expect(quick.map(({ event }) => event.split(".")[1])).toEqual(["partial_image", "completed"]);
    const several = await streamed({ ...body, n: 2 });
    expect(several.map(({ event }) => event.split(".")[1])).toEqual(["completed", "completed"]);
  });

  test("moderation and failures occur after the partial images; a blocked prompt is not streamed", async () => {
    const moderated = await streamed({ ...body, prompt: "sim:moderated", partial_images: 1 });
    expect(moderated.map(({ event }) => event)).toEqual(["image_generation.partial_image", "error"]);
    expect(errorOf(moderated[1]?.data ?? {}).code).toBe("moderation_blocked");
    const failed = await streamed({ ...body, prompt: "sim:fails" });
    expect(errorOf(failed[0]?.data ?? {}).type).toBe("server_error");
    const blocked = await harness.send(GENERATIONS, { body: { ...body, prompt: "sim:blocked", stream: true } });
    expect(blocked.status).toBe(400);
  });
});

describe("contract 2.5: the older models, and what prompts ask for", () => {
  test("a link lives for an hour, and one that is asked to be dead is", async () => {
    const send = async (prompt: string): Promise<string> => {
      const { body } = await harness.send(GENERATIONS, { body: { model: "dall-e-2", prompt, size: "256x256" } });
      expect(Object.keys(body).sort()).toEqual(["created", "data"]);
      return String(dataOf(body)[0]?.url);
    };
    const url = await send("a cat");
    const fetched = await harness.fetchLink(url);
    expect(sniffImage(fetched.bytes)?.size).toEqual({ width: 256, height: 256 });
    harness.nowMs += 60 * 60_000;
    expect((await harness.fetchLink(url)).status).toBe(403);
    expect((await harness.fetchLink(await send("sim:expired"))).status).toBe(403);
  });

  test("the third one revises prompts", async () => {
    const { body } = await harness.send(GENERATIONS, { body: { model: "dall-e-3", prompt: "a cat", quality: "hd" } });
    expect(dataOf(body)[0]?.revised_prompt).toContain("a cat");
  });

  test("outcomes", async () => {
    const send = async (outcome: string, more: JsonObject = {}) => {
      const { status, body } = await generate({ prompt: `a cat sim:${outcome}`, ...more });
      return { status, code: body.error === undefined ? dataOf(body).length : errorOf(body).code };
    };
    expect(await send("blocked")).toEqual({ status: 400, code: "moderation_blocked" });
    expect(await send("moderated")).toEqual({ status: 400, code: "moderation_blocked" });
    expect(await send("moderated", { model: "dall-e-2", size: "256x256" })).toEqual({
      status: 400,
      code: "content_policy_violation",
    });
    expect(await send("one-fails", { n: 3 })).toEqual({ status: 200, code: 2 });
    // Asked for one at a time, the first is the one that fails.
    expect((await send("one-fails")).status).toBe(400);
    expect((await send("one-fails")).status).toBe(200);
    expect((await send("fails")).status).toBe(500);
    expect((await send("expired")).status).toBe(200);
    expect((await send("forgotten")).status).toBe(200);
    expect(await send("busy")).toEqual({ status: 429, code: "rate_limit_exceeded" });
    expect((await send("broken")).status).toBe(500);
    expect((await send("overloaded")).status).toBe(503);
    const garbage = await harness.ask(GENERATIONS, { body: { model: "gpt-image-2", prompt: "sim:garbage" } });
    expect([garbage.status, (await garbage.text()).slice(0, 6)]).toEqual([200, "<html>"]);
  });

  test("a slow answer is not waited for longer than its caller does", async () => {
    const leaving = new AbortController();
    const asking = harness.ask(GENERATIONS, {
      body: { model: "gpt-image-2", prompt: "sim:slow", size: "64x64" },
      signal: leaving.signal,
    });
    await eventually("the slow answer to begin", () => harness.waits.length > 0);
    leaving.abort();
    await asking;
    expect(harness.waits).toEqual([5_000]);
  });
});
