import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const LIMITED = "a-key-for-the-messages-model-alone";
const SPEAKS_MESSAGES = "a-key-for-the-messages-protocol-alone";
const SLOW = "a-key-for-two-requests-a-minute";

const offers = [{ provider: "up-chat", model: "upstream-model" }];
const configured = scriptedModels(UPSTREAM_URL);
const config = {
  ...configured,
  models: [
    ...(configured["models"] as object[]),
    { id: "test/vectors", output_modalities: ["embeddings"], offers },
    { id: "test/listener", input_modalities: ["audio"], output_modalities: ["transcription"], offers },
  ],
  keys: [
    { name: "tests", key: TEST_KEY },
    { name: "limited", key: LIMITED, models: ["test/messages"] },
    { name: "protocol", key: SPEAKS_MESSAGES, protocols: ["messages"] },
    { name: "slow", key: SLOW, limits: { requests_per_minute: 2 } },
  ],
};

let harness: Harness;
let closed: Harness;
beforeAll(async () => {
  harness = await Harness.start({ config });
  closed = await Harness.start({ config: { ...config, server: { public_models: false } } });
});
afterEach(() => expect(harness.leftovers()).toMatchObject({ runningCalls: 0, heldBytes: 0 }));

type Json = Record<string, unknown>;
interface Place {
  path: string;
  headers: Record<string, string>;
  /** How clients of the protocol send a key. */
  withKey: (key: string) => Record<string, string>;
  shape: "openai" | "anthropic" | "google";
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const xApiKey = (key: string) => ({ "x-api-key": key });
const xGoogKey = (key: string) => ({ "x-goog-api-key": key });
const VERSION = { "anthropic-version": "2023-06-01" };

const PLACES: readonly Place[] = [
  { path: "/api/v1/models", headers: {}, withKey: bearer, shape: "openai" },
  { path: "/api/msg/v1/models", headers: {}, withKey: xApiKey, shape: "anthropic" },
  { path: "/api/genai/v1beta/models", headers: {}, withKey: bearer, shape: "google" },
  { path: "/v1/models", headers: {}, withKey: bearer, shape: "openai" },
  { path: "/v1/models", headers: VERSION, withKey: xApiKey, shape: "anthropic" },
  { path: "/v1/models", headers: { "x-goog-api-client": "google-genai-sdk/3.3" }, withKey: xGoogKey, shape: "google" },
  { path: "/v1beta/models", headers: {}, withKey: xGoogKey, shape: "google" },
];

const idsIn = (text: string): string[] => {
  const list = JSON.parse(text) as { data?: Json[]; models?: Json[] };
  return (list.data ?? list.models ?? []).map((entry) => String(entry["id"] ?? entry["name"]));
};
const shapeOf = (text: string): string => {
  const body = JSON.parse(text) as Json;
  const error = body["error"] as Json | undefined;
  if (error !== undefined) return body["type"] === "error" ? "anthropic" : "status" in error ? "google" : "openai";
  return "models" in body ? "google" : body["object"] === "list" ? "openai" : "anthropic";
};
const get = (path: string, headers: Record<string, string>, at = harness) => at.get(path, headers);

const EVERY = ["test/chat", "test/messages", "test/genai", "test/vectors", "test/listener"];

describe.each(PLACES)("choices 1: $path, $shape", ({ path, headers, withKey, shape }) => {
  test("a wrong credential is refused in the caller's protocol", async () => {
    for (const asked of [path, `${path}/test/chat`]) {
      const { status, text } = await get(asked, { ...headers, ...withKey("sk-trv-wrong") });
      expect([status, shapeOf(text)]).toEqual([401, shape]);
    }
    const basic = await get(path, { ...headers, authorization: "Basic abc" });
    expect(basic.status).toBe(401);
    // The vendor's SDK sends a key of blanks as an empty header.
    if (withKey !== bearer) expect((await get(path, { ...headers, ...withKey("") })).status).toBe(401);
  });

  test("a key sees what it may call", async () => {
    const all = await get(path, { ...headers, ...withKey(TEST_KEY) });
    expect([all.status, shapeOf(all.text)]).toEqual([200, shape]);
    expect(idsIn(all.text)).toEqual(expect.arrayContaining(EVERY));
    expect(idsIn((await get(path, { ...headers, ...withKey(LIMITED) })).text)).toEqual(["test/messages"]);
    // No endpoint of the messages protocol makes vectors or transcripts.
    const spoken = idsIn((await get(path, { ...headers, ...withKey(SPEAKS_MESSAGES) })).text);
    expect(spoken).toEqual(expect.arrayContaining(["test/chat", "test/messages", "test/genai"]));
    expect(spoken).not.toContain("test/vectors");
  });

  test("one model: 404 in the caller's protocol for one that the key may not call, or that does not exist", async () => {
    const seen = await get(`${path}/test/messages`, { ...headers, ...withKey(LIMITED) });
    expect(seen.status).toBe(200);
    for (const id of ["test/chat", "test/nope", "nope"]) {
      const { status, text } = await get(`${path}/${id}`, { ...headers, ...withKey(LIMITED) });
      expect([id, status, shape === "openai" ? "openai" : shapeOf(text)]).toEqual([id, 404, shape]);
      expect(shapeOf(text)).toBe(shape);
    }
  });

  test("without a credential the whole list, unless it is not public", async () => {
    const open = await get(path, headers);
    expect([open.status, shapeOf(open.text)]).toEqual([200, shape]);
    expect(idsIn(open.text)).toEqual(expect.arrayContaining(EVERY));
    for (const asked of [path, `${path}/test/chat`]) {
      const { status, text } = await get(asked, headers, closed);
      expect([status, shapeOf(text)]).toEqual([401, shape]);
    }
    expect((await get(path, { ...headers, ...withKey(TEST_KEY) }, closed)).status).toBe(200);
  });

  test("contract 2.9: the strict base URLs use the contract's words for modalities", async () => {
    const { text } = await get(path, headers);
    const list = JSON.parse(text) as { data?: Json[]; models?: Json[] };
    const words = new Map(
      (list.data ?? list.models ?? []).map((entry) => [
        entry["id"] ?? entry["name"],
        entry["output_modalities"] ?? entry["outputModalities"],
      ]),
    );
    if (path.startsWith("/api/")) {
      expect([words.get("test/vectors"), words.get("test/listener")]).toEqual([[], ["text"]]);
    } else if (shape !== "anthropic") {
      expect([words.get("test/vectors"), words.get("test/listener")]).toEqual([["embeddings"], ["transcription"]]);
    }
  });

  test("a wrong method is 405 in the caller's protocol and names the right one", async () => {
    const answer = await harness.ask("DELETE", path);
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  /** RFC 9110, 9.1: servers support GET and HEAD. */
  test("HEAD is answered like GET", async () => {
    for (const asked of [path, `${path}/test/chat`]) {
      const [read, head] = [await harness.ask("GET", asked), await harness.ask("HEAD", asked)];
      expect([head.status, head.headers.get("content-type")]).toEqual([200, read.headers.get("content-type")]);
    }
    expect((await harness.ask("HEAD", path, "sk-trv-wrong")).status).toBe(401);
  });
});

test.each([
  "/v1beta/models/test/genai:generateContent",
  "/v1/models/test/genai:streamGenerateContent",
  "/v1beta/models/gemini:countTokens",
  "/v1/projects/p/locations/l/publishers/google/models/gemini:predict",
  "/api/genai/v1beta/models/gemini:embedContent",
])("GET %s: a verb is not part of a model's id, and only accepts POST", async (path) => {
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await harness.ask(method, path);
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  }
});

test("another word after a colon is a provider, as in calls", async () => {
  expect((await harness.get("/v1/models/test/chat:up-chat")).status).toBe(200);
  expect((await harness.get("/v1/models/test/chat:nobody")).status).toBe(404);
});

test("every list counts towards the key's requests per minute", async () => {
  const statuses: number[] = [];
  for (const path of ["/v1/models", "/v1/models/test/chat", "/api/v1/models"])
    statuses.push((await harness.get(path, bearer(SLOW))).status);
  expect(statuses).toEqual([200, 200, 429]);
});

test("S21: guessing at model lists is slowed down", async () => {
  const fresh = await Harness.start({ config });
  const startedMs = fresh.clock.nowMs();
  for (let guess = 0; guess < 101; guess++) await fresh.get("/v1/models", bearer(`sk-trv-${guess}`));
  expect(fresh.clock.nowMs() - startedMs).toBe(1_000);
});

describe("pages", () => {
  const ids = EVERY;

  test("contract 4: the contract's own list takes no parameters and is always complete", async () => {
    const whole = await get("/api/msg/v1/models", {});
    expect(JSON.parse((await get("/api/msg/v1/models?limit=2", {})).text)).toEqual(JSON.parse(whole.text));
  });

  test("limit, after_id and before_id", async () => {
    const [path, headers] = ["/v1/models", VERSION];
    const all = idsIn((await get(path, headers)).text);
    expect(all).toEqual(expect.arrayContaining(ids));
    const seen: string[] = [];
    let after = "";
    for (let pages = 0; pages < all.length; pages++) {
      const { text } = await get(`${path}?limit=2${after === "" ? "" : `&after_id=${after}`}`, headers);
      const page = JSON.parse(text) as { data: { id: string }[]; has_more: boolean; last_id?: string };
      seen.push(...page.data.map(({ id }) => id));
      after = page.data.at(-1)?.id ?? "";
      expect(page.last_id).toBe(after);
      if (!page.has_more) break;
    }
    expect(seen).toEqual(all);
    const third = all[2] ?? "";
    const before = JSON.parse((await get(`${path}?limit=1&before_id=${third}`, headers)).text) as Json;
    expect([(before["data"] as { id: string }[]).map(({ id }) => id), before["has_more"]]).toEqual([[all[1]], true]);
  });

  test.each(["limit=0", "limit=1001", "limit=x", "after_id=no/such", "after_id=test/chat&before_id=test/chat"])(
    "?%s is refused with its path",
    async (query) => {
      const { status, text } = await get(`/v1/models?${query}`, VERSION);
      expect([status, shapeOf(text)]).toEqual([400, "anthropic"]);
      expect(text).toContain(
        query.split("=")[0] === "after_id" && query.includes("&") ? "before_id" : (query.split("=")[0] ?? ""),
      );
    },
  );

  test.each(["/api/genai/v1beta/models", "/v1beta/models"])("%s: pageSize and pageToken", async (path) => {
    const all = idsIn((await get(path, {})).text);
    const seen: string[] = [];
    let token: string | undefined = "";
    for (let pages = 0; token !== undefined && pages < all.length; pages++) {
      const { text } = await get(`${path}?pageSize=2${token === "" ? "" : `&pageToken=${token}`}`, {});
      seen.push(...idsIn(text));
      token = (JSON.parse(text) as { nextPageToken?: string }).nextPageToken;
    }
    expect(seen).toEqual(all);
    for (const query of ["pageSize=x", "pageToken=bm8"]) expect((await get(`${path}?${query}`, {})).status).toBe(400);
  });
});
