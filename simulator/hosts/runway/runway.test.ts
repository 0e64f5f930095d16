import { describe, expect, test } from "bun:test";
import { type HostReply, MediaHostHarness } from "../../../testing/media-host-harness.ts";
import type { JsonObject } from "../../json.ts";
import { videoFacts } from "../../media/video-facts.ts";
import { drawImage } from "../../media-maker/draw-image.ts";
import { runwayMedia } from "./media.ts";

const KEY = { authorization: "Bearer any-key", "x-runway-version": "2024-11-06" };
const ROOT = "/hosts/runway/v1";
const NO_IMAGE = `data:image/png;base64,${Buffer.from("no image").toString("base64")}`;
const PUBLIC_URL = "https://example.org/a.png";
const harness = new MediaHostHarness(runwayMedia);

const post = (path: string, body: JsonObject, headers: Record<string, string> = KEY): Promise<HostReply> =>
  harness.send(`${ROOT}/${path}`, { headers, body });
const animate = (more: JsonObject = {}): Promise<HostReply> =>
  post("image_to_video", { model: "gen4_turbo", promptImage: PUBLIC_URL, ratio: "96:64", duration: 2, ...more });
const poll = (id: unknown, headers: Record<string, string> = KEY): Promise<HostReply> =>
  harness.send(`${ROOT}/tasks/${id}`, { headers });
const remove = (id: unknown): Promise<HostReply> =>
  harness.send(`${ROOT}/tasks/${id}`, { method: "DELETE", headers: KEY });

async function ended(outcome: string): Promise<HostReply> {
  const { id } = (await animate({ promptText: `sim:${outcome}` })).body;
  harness.nowMs += 20;
  return poll(id);
}

describe("contract 2.1 to 2.3: tasks", () => {
  test("a video goes through its words to a link that dies after a day", async () => {
    const bytes = await drawImage({ prompt: "given", width: 96, height: 64, seed: 1, format: "jpeg" });
    const uri = `data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}`;
    const { id } = (
      await animate({
        promptImage: [
          { uri, position: "first" },
          { uri, position: "last" },
        ],
        audio: true,
      })
    ).body;
    expect((await poll(id)).body.status).toBe("PENDING");
    harness.nowMs += 10;
    expect((await poll(id)).body).toMatchObject({ status: "RUNNING", progress: 0.5, createdAt: expect.any(String) });
    harness.nowMs += 10;
    const { status, output } = (await poll(id)).body as { status: string; output: string[] };
    expect(status).toBe("SUCCEEDED");
    const video = await harness.fetchLink(output[0]);
    expect(videoFacts(video.bytes)).toEqual({ width: 96, height: 64, seconds: 2, audio: true });
    harness.nowMs += 24 * 3_600_000;
    expect((await harness.fetchLink(output[0])).status).toBe(403);
  });

  test("an image has the size of its ratio", async () => {
    const referenceImages = [{ uri: PUBLIC_URL, tag: "fox" }];
    const { id } = (
      await post("text_to_image", { model: "gen4_image", promptText: "@fox", ratio: "128:64", referenceImages })
    ).body;
    harness.nowMs += 20;
    const { output } = (await poll(id)).body as { output: string[] };
    expect(await harness.sizeOfLink(output[0])).toEqual({ width: 128, height: 64 });
  });

  test("a third concurrent task is throttled", async () => {
    const first = (await animate()).body.id;
    expect((await poll(first)).body.status).toBe("PENDING");
    await animate();
    const third = (await animate()).body.id;
    expect((await poll(third)).body.status).toBe("THROTTLED");
    harness.nowMs += 20;
    expect((await poll(third)).body.status).toBe("SUCCEEDED");
  });

  test("what is not done is cancelled, and what is done is deleted", async () => {
    const { id } = (await animate()).body;
    expect((await remove(id)).status).toBe(204);
    expect((await poll(id)).body.status).toBe("CANCELLED");
    harness.nowMs += 20;
    expect((await remove(id)).status).toBe(204);
    expect((await poll(id)).status).toBe(404);
    const other = (await animate()).body.id;
    expect((await poll(other, { ...KEY, authorization: "Bearer another" })).status).toBe(404);
  });

  test("outcomes", async () => {
    expect((await ended("moderated")).body).toMatchObject({
      status: "FAILED",
      failureCode: expect.stringMatching(/^SAFETY\./),
    });
    expect((await ended("fails")).body).toMatchObject({
      status: "FAILED",
      failureCode: expect.stringMatching(/^INTERNAL\./),
    });
    expect((await ended("forgotten")).status).toBe(404);
    expect((await ended("slow")).body.status).toBe("PENDING");
    const pair = [await ended("one-fails"), await ended("one-fails")].map((reply) => reply.body.status);
    expect(pair.sort()).toEqual(["FAILED", "SUCCEEDED"]);
    const { output } = (await ended("expired")).body as { output: string[] };
    expect((await harness.fetchLink(output[0])).status).toBe(403);
    const at = async (outcome: string): Promise<number> => (await animate({ promptText: `sim:${outcome}` })).status;
    expect([await at("blocked"), await at("busy"), await at("broken"), await at("overloaded")]).toEqual([
      400, 429, 500, 503,
    ]);
    expect((await animate({ promptText: "sim:garbage" })).text).toStartWith("<html>");
  });
});

describe("contract 2.1 to 2.3: refusals", () => {
  test.each([
    ["no image", "image_to_video", { promptImage: null }, "promptImage"],
    ["an invalid image", "image_to_video", { promptImage: NO_IMAGE }, "promptImage"],
    [
      "two first frames",
      "image_to_video",
      { promptImage: [1, 2].map(() => ({ uri: PUBLIC_URL, position: "first" })) },
      "position",
    ],
    ["a video too long", "image_to_video", { duration: 11 }, "duration"],
    ["a duration as a string", "image_to_video", { duration: "5" }, "duration"],
    ["a ratio of another form", "image_to_video", { ratio: "16:9" }, "ratio"],
    ["an unknown field", "image_to_video", { prompt: "a" }, "prompt"],
    ["a model of another endpoint", "image_to_video", { model: "gen4_image" }, "model"],
    [
      "another threshold",
      "image_to_video",
      { contentModeration: { publicFigureThreshold: "high" } },
      "publicFigureThreshold",
    ],
    [
      "four references",
      "text_to_image",
      { referenceImages: [1, 2, 3, 4].map(() => ({ uri: PUBLIC_URL })) },
      "referenceImages",
    ],
    ["no video to remake", "video_to_video", { promptText: "a" }, "videoUri"],
    ["no words", "text_to_video", {}, "promptText"],
  ])("refuses %s", async (_, endpoint, more, named) => {
    const models: Record<string, string> = {
      text_to_image: "gen4_image",
      video_to_video: "gen4_aleph",
      text_to_video: "gen4.5",
    };
    const base =
      endpoint === "image_to_video"
        ? { model: "gen4_turbo", promptImage: PUBLIC_URL }
        : { model: models[endpoint] ?? "" };
    const reply = await post(endpoint, { ...base, ...more });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(named);
  });

  test("contract 5: the key, the version and the content type are demanded", async () => {
    const body = { model: "gen4_turbo", promptImage: PUBLIC_URL };
    const { authorization } = KEY;
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await post("image_to_video", body, headers)).status;
    expect(await status({ "x-runway-version": "2024-11-06" })).toBe(401);
    expect(await status({ ...KEY, authorization: "Bearer wrong" })).toBe(401);
    expect(await status({ authorization })).toBe(400);
    expect(await status({ authorization, "x-runway-version": "2023-01-01" })).toBe(400);
    expect(await status({ ...KEY, "content-type": "text/plain" })).toBe(415);
    expect(await harness.answerTo("/hosts/runway/v1/organization", { headers: KEY })).toBeUndefined();
  });
});
