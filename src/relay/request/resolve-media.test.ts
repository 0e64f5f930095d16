import { describe, expect, test } from "bun:test";
import type { CanonCall } from "../../canon/call.ts";
import { GatewayError } from "../../canon/error.ts";
import type { MediaKind, MediaPart, Part } from "../../canon/part.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../../dialects/request/media-quirks.ts";
import { MediaFetchError } from "../../wire/media-fetch.ts";
import { type FetchMedia, resolveMedia } from "./resolve-media.ts";

const NOTHING_BY_ITSELF: MediaQuirks = { ...DEFAULT_MEDIA_QUIRKS, mediaUrls: [] };

const at = (url: string, path: string, kind: MediaKind = "image", mimeType?: string): MediaPart => ({
  type: "media",
  kind,
  path,
  source: { type: "url", url, ...(mimeType === undefined ? {} : { mimeType }) },
});

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

const callWith = (...parts: Part[]): CanonCall =>
  frozen({
    dialect: "messages",
    fieldNames: {},
    system: [],
    turns: [{ role: "user", parts, path: "messages[0]" }],
    tools: [],
    paths: {},
    extras: [],
  });

/** Serves the URL itself as the content, with a type by its suffix. */
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  pdf: "application/pdf",
  txt: "text/plain",
  mp3: "audio/mpeg",
};
function library() {
  const asked: string[] = [];
  const counts = { open: 0, most: 0 };
  const fetchMedia: FetchMedia = async (url) => {
    asked.push(url);
    counts.most = Math.max(counts.most, ++counts.open);
    await Bun.sleep(0);
    counts.open--;
    if (url.includes("broken")) throw new MediaFetchError("its host could not be reached");
    return {
      bytes: new TextEncoder().encode(url),
      mimeType: TYPES[url.split(".").at(-1) ?? ""] ?? "application/octet-stream",
    };
  };
  return { asked, counts, fetchMedia };
}
const data = (url: string, mimeType: string) => ({ type: "data", mimeType, data: Buffer.from(url).toString("base64") });
const sources = (call: CanonCall) =>
  call.turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "media" ? [part.source] : [])));

async function failureOf(call: CanonCall, fetchMedia: FetchMedia, quirks = NOTHING_BY_ITSELF): Promise<GatewayError> {
  const error = await resolveMedia(call, quirks, fetchMedia).catch((thrown: unknown) => thrown);
  if (!(error instanceof GatewayError)) throw new Error(`no GatewayError but ${String(error)}`);
  return error;
}

describe("S12: media by URL", () => {
  test("contract 2.10: images and documents of every depth are fetched, and nothing else changes", async () => {
    const { asked, fetchMedia } = library();
    const [a, b, c, d] = [
      "https://x.example/a.png",
      "https://x.example/b.pdf",
      "https://x.example/c.png",
      "https://x.example/d.png",
    ];
    const call = callWith(
      { ...at(a, "a"), cache: { ttl: "1h" }, detail: "low" },
      { type: "text", text: a },
      { type: "tool-result", callId: "1", content: [{ type: "text", text: "see" }, at(b, "b", "document")] },
      { type: "search-result", content: [at(c, "c")] },
      {
        type: "tool-result",
        callId: "2",
        content: [
          {
            type: "search-result",
            content: [{ type: "media", kind: "document", source: { type: "parts", parts: [at(d, "d")] } }],
          },
        ],
      },
    );
    const before = JSON.stringify(call);
    const resolved = await resolveMedia(call, NOTHING_BY_ITSELF, fetchMedia);
    expect(asked.toSorted()).toEqual([a, b, c, d]);
    expect(JSON.stringify(call)).toBe(before);
    // Only the sources may differ: put the old ones back, and it is the same call.
    let expected = before;
    const types: Readonly<Record<string, string>> = { [b]: "application/pdf" };
    for (const url of [a, b, c, d])
      expected = expected.replace(
        `{"type":"url","url":"${url}"}`,
        JSON.stringify(data(url, types[url] ?? "image/png")),
      );
    expect(JSON.stringify(resolved)).toBe(expected);
  });

  test("media that the target fetches itself, or does not support, are left unchanged", async () => {
    const { asked, fetchMedia } = library();
    const call = callWith(
      at("https://x.example/a.png", "a"),
      at("https://x.example/b.pdf", "b", "document"),
      at("https://x.example/c.mp3", "c", "audio"),
      at("https://x.example/d.mp4", "d", "video"),
    );
    const quirks: MediaQuirks = {
      ...DEFAULT_MEDIA_QUIRKS,
      mediaUrls: ["image"],
      media: ["image", "document", "audio"],
    };
    const resolved = await resolveMedia(call, quirks, fetchMedia);
    expect(asked).toEqual(["https://x.example/b.pdf", "https://x.example/c.mp3"]);
    expect(sources(resolved).map(({ type }) => type)).toEqual(["url", "data", "data", "url"]);
  });

  test("URLs that are not on the web are never fetched, and a call without others is the same call", async () => {
    const { asked, fetchMedia } = library();
    const call = callWith(
      at("gs://bucket/a.png", "a"),
      at("data:image/png;base64,AAAA", "b"),
      at("file:///etc/passwd", "c"),
      { type: "media", kind: "image", source: { type: "file", id: "https://x.example/files/1", origin: "messages" } },
    );
    expect(await resolveMedia(call, NOTHING_BY_ITSELF, fetchMedia)).toBe(call);
    expect(asked).toEqual([]);
  });

  test("a document of text becomes text", async () => {
    const { fetchMedia } = library();
    const call = callWith(at("https://x.example/a.txt", "a", "document"));
    const [source] = sources(await resolveMedia(call, NOTHING_BY_ITSELF, fetchMedia));
    expect(source).toEqual({ type: "text", text: "https://x.example/a.txt" });
  });

  test("contract 2.6: the caller's type counts if the host declares none", async () => {
    const { fetchMedia } = library();
    const call = callWith(
      at("https://x.example/a", "a", "video", "video/mp4"),
      at("https://x.example/b.png", "b", "image", "image/gif"),
    );
    expect(sources(await resolveMedia(call, NOTHING_BY_ITSELF, fetchMedia))).toEqual([
      data("https://x.example/a", "video/mp4"),
      data("https://x.example/b.png", "image/png"),
    ] as never);
  });

  test("media of the wrong kind are rejected", async () => {
    const { fetchMedia } = library();
    const failure = await failureOf(callWith(at("https://x.example/a.pdf", "messages[0].content[2]")), fetchMedia);
    expect(failure.message).toBe(
      "messages[0].content[2] could not be fetched: expected image content, got application/pdf",
    );
    expect((await failureOf(callWith(at("https://x.example/a", "p")), fetchMedia)).message).toContain(
      "expected image content",
    );
  });

  test("a failure is the request's, names its place, and ends the other fetches", async () => {
    const ended: unknown[] = [];
    const fetchMedia: FetchMedia = (url, { signal }) =>
      url.includes("broken")
        ? Promise.reject(new MediaFetchError("its host could not be reached"))
        : new Promise((_, reject) => signal.addEventListener("abort", () => reject(ended.push(url))));
    const call = callWith(
      at("https://x.example/a.png", "a"),
      at("https://x.example/broken.png", "messages[0].content[1]"),
    );
    const failure = await failureOf(call, fetchMedia);
    expect([failure.kind, failure.path]).toEqual(["invalid_request", "messages[0].content[1]"]);
    expect(failure.message).toBe("messages[0].content[1] could not be fetched: its host could not be reached");
    expect(ended).toEqual(["https://x.example/a.png"]);
  });

  test("a part without a path has its parent's", async () => {
    const { fetchMedia } = library();
    const part: Part = { type: "media", kind: "image", source: { type: "url", url: "https://x.example/broken.png" } };
    expect((await failureOf(callWith(part), fetchMedia)).path).toBe("messages[0]");
  });

  test("a fault of ours is not blamed on the request", async () => {
    const work = resolveMedia(callWith(at("https://x.example/a.png", "a")), NOTHING_BY_ITSELF, () =>
      Promise.reject(new TypeError("oops")),
    );
    expect(await work.catch((error) => error)).toBeInstanceOf(TypeError);
  });

  test("32 URLs at most, 8 at once, each only once", async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => at(`https://x.example/${index}.png`, `p${index}`));
    const { asked, counts, fetchMedia } = library();
    const resolved = await resolveMedia(callWith(...many(32), ...many(32)), NOTHING_BY_ITSELF, fetchMedia);
    expect([asked.length, counts.most]).toEqual([32, 8]);
    expect(sources(resolved).every(({ type }) => type === "data")).toBe(true);
    const before = asked.length;
    expect((await failureOf(callWith(...many(33)), fetchMedia)).message).toContain("at most 32");
    expect(asked.length).toBe(before);
  });

  test("all media of a call together have a bound", async () => {
    const bytes = new Uint8Array(20 * 1024 * 1024);
    const call = callWith(...[0, 1, 2, 3].map((index) => at(`https://x.example/${index}.png`, `p${index}`)));
    const failure = await failureOf(call, async () => ({ bytes, mimeType: "image/png" }));
    expect(failure.message).toBe(
      "p3 could not be fetched: the media of this request add up to more than 67108864 bytes",
    );
    // As much as the bound is allowed.
    const quarter = new Uint8Array(16 * 1024 * 1024);
    const exact = await resolveMedia(call, NOTHING_BY_ITSELF, async () => ({ bytes: quarter, mimeType: "image/png" }));
    expect(sources(exact).every(({ type }) => type === "data")).toBe(true);
  });
});
