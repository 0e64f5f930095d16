import { beforeEach, describe, expect, test } from "bun:test";
import { bearer, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { sniffImage } from "../../sniff-image.ts";
import { baiduMedia } from "./media.ts";

const BASE = "/hosts/baidu/v2";
const ERNIE = `${BASE}/ernie-image/images/generations`;

let harness: MediaHostHarness;
beforeEach(() => {
  harness = new MediaHostHarness(baiduMedia);
});

const ernie = (body: JsonObject) =>
  harness.send(ERNIE, { body: { model: "ernie-image-turbo", prompt: "a cat", ...body } });
const general = (body: JsonObject, verb = "generations") =>
  harness.send(`${BASE}/images/${verb}`, {
    body: { model: "qwen-image", prompt: "a cat", size: "512x512", ...body },
  });
const errorOf = (body: JsonObject): JsonObject => body.error as JsonObject;

async function sizeAt(body: JsonObject, at = 0): Promise<string> {
  const fetched = await harness.fetchLink(String((body.data as JsonObject[])[at]?.url));
  const size = sniffImage(fetched.bytes)?.size;
  return `${size?.width}x${size?.height}`;
}

describe("contract 2.4: images", () => {
  test("a size that is not on the list gives another one, without a word", async () => {
    const listed = await ernie({ size: "848x1264", watermark: true });
    expect(Object.keys(listed.body)).toEqual(["id", "created", "data"]);
    expect(await sizeAt(listed.body)).toBe("848x1264");
    expect(await sizeAt((await ernie({ size: "640x480" })).body)).toBe("1376x768");
    expect(await sizeAt((await ernie({})).body)).toBe("1024x1024");
    harness.nowMs += 24 * 3_600_000;
    expect((await harness.fetchLink(String((listed.body.data as JsonObject[])[0]?.url))).status).toBe(403);
  });

  test("other models have other URLs and fields", async () => {
    const several = await general({ n: 4, seed: 7, steps: 20, guidance: 3.5, negative_prompt: "dogs" });
    expect(several.body.data).toHaveLength(4);
    expect(await sizeAt(several.body, 3)).toBe("512x512");
    const air = await harness.send(`${BASE}/musesteamer/images/generations`, {
      body: { model: "musesteamer-air-image", prompt: "a cat", size: "512x512", response_format: "b64_json" },
    });
    const bytes = new Uint8Array(Buffer.from(String((air.body.data as JsonObject[])[0]?.b64_json), "base64"));
    expect(sniffImage(bytes)?.size).toEqual({ width: 512, height: 512 });
  });

  test("edits look at their image", async () => {
    const bytes = await drawImage({ prompt: "input", width: 64, height: 64, seed: 1, format: "jpeg" });
    const image = Buffer.from(bytes).toString("base64");
    expect((await general({ model: "qwen-image-edit", image }, "edits")).status).toBe(200);
    expect((await general({ model: "qwen-image-edit", image: "bm9uZQ==" }, "edits")).status).toBe(400);
    expect((await general({ model: "qwen-image-edit" }, "edits")).status).toBe(400);
  });

  test("refuses what a model does not have, in the host's shape", async () => {
    for (const body of [
      { n: 1 },
      { seed: 1 },
      { negative_prompt: "dogs" },
      { watermark: "no" },
      { response_format: "b64_json" },
      { prompt: "" },
      { prompt: "x".repeat(2_049) },
      { size: 1024 },
    ] as JsonObject[]) {
      const answer = await ernie(body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body)).toEqual(["error", "id"]);
      expect(errorOf(answer.body)).toMatchObject({ code: "invalid_argument", type: "invalid_request_error" });
    }
    for (const body of [
      { n: 5 },
      { size: "4096x512" },
      { size: "wide" },
      { seed: -1 },
      { style: "x" },
    ] as JsonObject[]) {
      expect((await general(body)).status).toBe(400);
    }
  });

  test("keys and models", async () => {
    const body = { model: "ernie-image-turbo", prompt: "a cat" };
    expect((await harness.send(ERNIE, { body, headers: {} })).status).toBe(401);
    expect(errorOf((await harness.send(ERNIE, { body, headers: bearer("bce-v3/wrong") })).body).code).toBe(
      "invalid_iam_token",
    );
    expect((await ernie({ model: "qwen-image" })).status).toBe(404);
    expect((await general({ model: "ernie-image-turbo" })).status).toBe(404);
    expect(await harness.answerTo(`${BASE}/chat/completions`, { body })).toBeUndefined();
  });

  test("outcomes", async () => {
    const outcome = (name: string) => ernie({ prompt: `sim:${name}` });
    for (const name of ["blocked", "moderated"]) {
      const { status, body } = await outcome(name);
      expect([status, errorOf(body).code]).toEqual([400, "content_filter"]);
    }
    expect((await general({ prompt: "sim:one-fails", n: 3 })).body.data).toHaveLength(2);
    expect((await outcome("one-fails")).status).toBe(400);
    expect((await outcome("one-fails")).status).toBe(200);
    expect((await outcome("fails")).status).toBe(500);
    expect((await outcome("busy")).status).toBe(429);
    expect((await outcome("broken")).status).toBe(500);
    expect((await outcome("overloaded")).status).toBe(503);
    expect((await outcome("forgotten")).status).toBe(200);
    const expired = await outcome("expired");
    expect((await harness.fetchLink(String((expired.body.data as JsonObject[])[0]?.url))).status).toBe(403);
    expect(await (await harness.ask(ERNIE, { body: { model: "standard", prompt: "sim:garbage" } })).text()).toStartWith(
      "<html>",
    );
  });
});
