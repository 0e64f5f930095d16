import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../base/json.ts";
import { Secret } from "../../base/secret.ts";
import { system } from "../../base/system.ts";
import type { ProviderSettings } from "../../config/config.ts";
import { createProvider } from "../index.ts";

const MODEL = "gemini-2.5-flash";
const content = { contents: [{ role: "user", parts: [{ text: "A story." }] }] };

function hostOf(settings: Partial<ProviderSettings> & { kind: string }) {
  const { services } = createProvider({ name: "google", apiKey: new Secret("a-key-of-the-host"), ...settings }, system);
  const adapter = services?.adapter("caches", MODEL);
  if (services === undefined || adapter === undefined) throw new Error("no caches");
  return { adapter, context: services.context(MODEL, "job") };
}

const answer = (body: JsonObject, status = 200) => ({
  status,
  body,
  text: JSON.stringify(body),
  retryAfterSeconds: undefined,
});

describe("decision 0110: caches of the Gemini API and Vertex AI", () => {
  test("are created below each host's own path, with the model as the host names it", () => {
    const gemini = hostOf({ kind: "gemini" });
    expect(gemini.adapter.create({ content, name: "trivium-1", ttlMs: 90_500 }, gemini.context)).toEqual({
      method: "POST",
      url: "/v1beta/cachedContents",
      body: { json: { model: `models/${MODEL}`, ...content, displayName: "trivium-1", ttl: "90.500s" } },
    });
    const vertex = hostOf({ kind: "vertex", project: "p", location: "europe-west1" });
    expect(vertex.adapter.create({ content, name: "n", ttlMs: 1000 }, vertex.context)).toMatchObject({
      url: "/v1/projects/p/locations/europe-west1/cachedContents",
      body: { json: { model: `projects/p/locations/europe-west1/publishers/google/models/${MODEL}` } },
    });
    expect(vertex.adapter.remove("projects/p/locations/europe-west1/cachedContents/12")).toEqual({
      method: "DELETE",
      url: "/v1/projects/p/locations/europe-west1/cachedContents/12",
    });
    expect(gemini.adapter.extend("cachedContents/a?b", 60_000)).toEqual({
      method: "PATCH",
      url: "/v1beta/cachedContents/a%3Fb",
      body: { json: { ttl: "60.000s" } },
    });
    expect(gemini.adapter.list("next page", gemini.context).url).toContain("pageToken=next+page");
    expect(
      createProvider({ name: "v", kind: "vertex", apiKey: new Secret("a-key-of-the-host") }, system).services?.adapter(
        "caches",
        "claude-opus-5",
      ),
    ).toBeUndefined();
  });

  test("an answer without a name is not a cache, and counts that cannot be are left out", () => {
    const { adapter } = hostOf({ kind: "gemini" });
    expect(() => adapter.read(answer({}))).toThrow();
    expect(
      adapter.read(answer({ name: "cachedContents/a", usageMetadata: { totalTokenCount: -5, textCount: 9 } })),
    ).toEqual({ id: "cachedContents/a", counts: { textCount: 9 } });
    expect(
      adapter.readList(answer({ cachedContents: [{ name: "a", displayName: "b" }, 3], nextPageToken: "" })),
    ).toEqual({
      caches: [{ id: "a", name: "b" }],
    });
  });

  test("distinguishes a cache that is gone from a rejected key", () => {
    const { adapter } = hostOf({ kind: "gemini" });
    const error = (message: string) => ({ error: { message } });
    expect(adapter.isGone(answer(error("not found"), 404))).toBe(true);
    expect(adapter.isGone(answer(error("CachedContent not found (or permission denied)"), 403))).toBe(true);
    expect(adapter.isGone(answer(error("Permission denied on the resource."), 403))).toBe(false);
    expect(adapter.isGone(answer(error("Overloaded"), 503))).toBe(false);
  });
});
