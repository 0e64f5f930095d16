import { beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json.ts";
import { insertObject } from "../../src/storage/tables/objects.ts";
import { insertProject, replaceProject } from "../../src/storage/tables/projects.ts";
import { eventually } from "../../testing/eventually.ts";
import { Harness, type Machine, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";

const OTHER_PROJECT = "a-key-of-another-project-here";
const SAME_PROJECT = "another-key-of-the-same-project";
const PRIVATE = "a-key-that-keeps-to-itself-here";
const ALLOWED = "a-key-that-may-name-what-it-likes";
const SLOW = "a-key-with-five-requests-a-minute";
const SINGLE = "a-key-with-one-call-at-one-time";

const MODELS = modelsOfEveryDialect(UPSTREAM_URL);
const service = (id: string, output: string, model: string) => ({
  id,
  output_modalities: [output],
  pricings: { prompt: [{ value: 1, unit: "perMTokens", currency: "USD" }] },
  offers: [{ provider: "up-chat", model }],
});
const CONFIG = {
  ...MODELS,
  models: [
    ...(MODELS["models"] as object[]),
    service("test/vectors", "embeddings", "text-embedding-3-small"),
    service("test/judge", "moderation", "omni-moderation-latest"),
    service("test/speaker", "audio", "gpt-4o-mini-tts"),
    service("test/painter", "image", "gpt-image-1"),
    {
      ...service("test/film", "video", "veo-3.0-generate-001"),
      offers: [{ provider: "up-genai", model: "veo-3.0-generate-001" }],
    },
  ],
  keys: [
    { name: "tests", key: TEST_KEY, scopes: ["keys:create"] },
    { name: "same", key: SAME_PROJECT },
    { name: "private", key: PRIVATE, objects: "private" },
    { name: "allowed", key: ALLOWED, provider_objects: true, scopes: ["keys:create"] },
    { name: "slow", key: SLOW, scopes: ["keys:create"], limits: { requests_per_minute: 5 } },
    { name: "single", key: SINGLE, limits: { concurrent: 1 } },
    { name: "others", project: "others", key: OTHER_PROJECT },
  ],
};

let machine: Machine;
let harness: Harness;

beforeEach(async () => {
  machine = await makeMachine();
  // Several keys are created, each with its own secret.
  let made = 0;
  machine.random = {
    ...machine.random,
    bytes: (length) => Uint8Array.from({ length }, (_, at) => (at === 0 ? made++ : at)),
  };
  harness = await Harness.start({ config: CONFIG, machine });
});

/** With the headers that any of the protocols needs. */
const post = (path: string, body: object, key = TEST_KEY): Promise<ReadAnswer> =>
  harness.clock.until(harness.sendPost(path, body, key, { "anthropic-version": "2023-06-01" }).answer);

/** The upstream answers one request with this. */
function answers(text = "Hello.", dialect: "chat" | "messages" | "genai" = "chat"): void {
  const { upstream } = machine;
  upstream.play(upstream.json(plainAnswer(dialect, { text, usage: plainUsage(dialect, 10, 5) })));
}

const sentUp = (): unknown => JSON.parse(machine.upstream.requests.at(-1)?.body ?? "{}");

const user = (content: unknown) => [{ role: "user", content }];
const chat = (model: string, more: JsonObject) => ({ model, messages: user("Hi"), ...more });
const file = { type: "file", file: { file_id: "file-raw" } };
const anthropicFile = { type: "document", source: { type: "file", file_id: "file_raw" } };
const storedImage = { type: "image", source: { type: "url", url: "gs://bucket/a.png" } };
const messages = (more: JsonObject) => ({ model: "test/messages", max_tokens: 9, messages: user("Hi"), ...more });
const genai = (more: JsonObject) => ({ contents: [{ role: "user", parts: [{ text: "Hi" }] }], ...more });
const stored = (fileUri: string) => ({
  contents: [{ role: "user", parts: [{ fileData: { fileUri, mimeType: "image/png" } }] }],
});
const inputFile = [{ role: "user", content: [{ type: "input_file", file_id: "file-raw" }] }];

/**
 * Every endpoint that accepts an object name, at both base URLs, native and translated: the request, and the path that
 * is refused.
 */
const RAW: readonly [path: string, body: object, refused: string][] = [
  ...["/v1", "/api/v1"].flatMap((root): [string, object, string][] => [
    [`${root}/chat/completions`, chat("test/chat", { messages: user([file]) }), "messages[0].content[0].file.file_id"],
    [
      `${root}/chat/completions`,
      chat("test/genai", { messages: user([{ type: "image_url", image_url: { url: "gs://b/o" } }]) }),
      "messages[0].content[0].image_url.url",
    ],
    [
      `${root}/chat/completions`,
      chat("test/messages", { messages: user([file]) }),
      "messages[0].content[0].file.file_id",
    ],
    [
      `${root}/chat/completions`,
      chat("test/chat", {
        messages: [...user("Hi"), { role: "assistant", audio: { id: "audio_1" } }, ...user("Again")],
      }),
      "messages[1].audio.id",
    ],
    [`${root}/responses`, { model: "test/responses", input: inputFile }, "input[0].content[0].file_id"],
    [`${root}/responses`, { model: "test/genai", input: inputFile }, "input[0].content[0].file_id"],
    [
      `${root}/responses`,
      { model: "test/responses", input: "Hi", tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
      "tools[0].vector_store_ids[0]",
    ],
    [
      `${root}/responses`,
      { model: "test/responses", input: "Hi", tools: [{ type: "code_interpreter", container: "cntr_1" }] },
      "tools[0].container",
    ],
    [`${root}/responses/input_tokens`, { model: "test/responses", input: inputFile }, "input[0].content[0].file_id"],
    [`${root}/responses/compact`, { model: "test/responses", input: inputFile }, "input[0].content[0].file_id"],
    [
      `${root}/responses/compact`,
      { model: "test/responses", input: [{ type: "item_reference", id: "rs_1" }] },
      "input[0]",
    ],
    [
      `${root}/images/edits`,
      { model: "test/painter", prompt: "a fox", images: [{ file_id: "file-raw" }] },
      "images[0].file_id",
    ],
    [`${root}/images/generations`, { model: "test/painter", prompt: "a fox", container: "cntr_1" }, "container"],
    [`${root}/embeddings`, { model: "test/vectors", input: "Hi", file_id: "file-raw" }, "file_id"],
    [
      `${root}/moderations`,
      { model: "test/judge", input: [{ type: "image_url", image_url: { url: "gs://b/o" } }] },
      "input[0].image_url.url",
    ],
    [`${root}/audio/speech`, { model: "test/speaker", input: "Hi", voice: "alloy", file_id: "file-raw" }, "file_id"],
  ]),
  // The contract does not list files as sources; its base URL refuses them as such.
  ...(
    [
      ["/v1/messages", anthropicFile, "file_id"],
      ["/v1/messages", storedImage, "url"],
      ["/api/anthropic/v1/messages", storedImage, "url"],
    ] as const
  ).flatMap(([path, block, field]): [string, object, string][] => {
    const refused = `messages[0].content[0].source.${field}`;
    return [
      [path, messages({ messages: user([block]) }), refused],
      [path, messages({ model: "test/chat", messages: user([block]) }), refused],
      [path, messages({ model: "test/genai", messages: user([block]) }), refused],
      [`${path}/count_tokens`, messages({ messages: user([block]) }), refused],
    ];
  }),
  ["/v1/messages", messages({ container: "container_1" }), "container"],
  [
    "/v1/messages",
    messages({ container: { skills: [{ type: "custom", skill_id: "skill_1" }] } }),
    "container.skills[0].skill_id",
  ],
  ...["/v1beta/models", "/api/vertex-ai/v1/publishers/test/models"].flatMap((root): [string, object, string][] => {
    const at = (model: string, verb: string) => `${root}/${root.startsWith("/api") ? model : `test/${model}`}:${verb}`;
    return [
      [at("genai", "generateContent"), stored("gs://b/o"), "contents[0].parts[0].fileData.fileUri"],
      [at("genai", "generateContent"), stored("files/abc"), "contents[0].parts[0].fileData.fileUri"],
      [
        at("genai", "streamGenerateContent"),
        stored("https://generativelanguage.googleapis.com/v1beta/files/abc"),
        "contents[0].parts[0].fileData.fileUri",
      ],
      [at("chat", "generateContent"), stored("gs://b/o"), "contents[0].parts[0].fileData.fileUri"],
      [at("genai", "generateContent"), genai({ cachedContent: "cachedContents/abc" }), "cachedContent"],
      [at("messages", "generateContent"), genai({ cachedContent: "cachedContents/abc" }), "cachedContent"],
      [
        at("genai", "generateContent"),
        genai({ tools: [{ retrieval: { vertexRagStore: { ragCorpora: ["projects/p"] } } }] }),
        "tools[0].retrieval.vertexRagStore.ragCorpora[0]",
      ],
      [at("genai", "countTokens"), stored("gs://b/o"), "contents[0].parts[0].fileData.fileUri"],
      [
        at("film", "predictLongRunning"),
        { instances: [{ prompt: "a fox" }], parameters: { storageUri: "gs://b" } },
        "parameters.storageUri",
      ],
    ];
  }),
];

describe("H56, decision 0087: a provider's own id", () => {
  test.each(RAW)("POST %s %j is refused at %s, and nothing is sent", async (path, body, refused) => {
    const { status, text } = await post(path, body);
    expect([status, text]).toEqual([400, expect.stringContaining(refused)]);
    expect(machine.upstream.requests).toEqual([]);
    expect(harness.leftovers()["heldBytes"]).toBe(0);
  });

  test("the message names the setting that allows it, and repeats only the beginning of an id", async () => {
    const { text } = await post("/v1/messages", messages({ container: `container_${"x".repeat(10_000)}` }));
    expect(text).toContain("`provider_objects: true`");
    expect(text.length).toBeLessThan(800);
  });

  test("in a form", async () => {
    const form = new FormData();
    form.set("model", "test/painter");
    form.set("prompt", "a fox");
    form.set("image", new Blob([new Uint8Array(Buffer.from(PNG, "base64"))], { type: "image/png" }), "a.png");
    form.set("mask[file_id]", "file-raw");
    const { status, text } = await harness.clock.until(harness.sendForm("/v1/images/edits", form).answer);
    expect([status, text]).toEqual([400, expect.stringContaining("file_id")]);
  });

  test("a key with provider_objects: true forwards it unchanged", async () => {
    answers();
    const body = chat("test/chat", { messages: user([file]) });
    expect((await harness.post("/v1/chat/completions", body, ALLOWED)).status).toBe(200);
    expect(sentUp()).toMatchObject({ messages: user([file]) });
    answers("Hello.", "genai");
    expect((await harness.post("/v1beta/models/test/genai:generateContent", stored("gs://b/o"), ALLOWED)).status).toBe(
      200,
    );
    expect(sentUp()).toMatchObject(stored("gs://b/o"));
    answers("Hello.", "messages");
    expect((await post("/v1/messages", messages({ container: "container_1" }), ALLOWED)).status).toBe(200);
    expect(sentUp()).toMatchObject({ container: "container_1" });
  });

  test("a skill that the vendor gives to every account needs no permission", async () => {
    answers("Hello.", "messages");
    const container = { skills: [{ type: "anthropic", skill_id: "pptx" }] };
    expect((await post("/v1/messages", messages({ container }))).status).toBe(200);
    expect(sentUp()).toMatchObject({ container });
  });

  test("S05: a key cannot create a key that may name more than itself; one that may have it has it only if requested", async () => {
    const refused = await harness.post("/api/v1/keys", { name: "child", provider_objects: true });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("provider_objects")]);
    const named = chat("test/chat", { messages: user([file]) });
    const plain = await makeChild({}, ALLOWED);
    expect((await harness.post("/v1/chat/completions", named, plain)).status).toBe(400);
    const able = await makeChild({ provider_objects: true }, ALLOWED);
    answers();
    expect((await harness.post("/v1/chat/completions", named, able)).status).toBe(200);
  });

  test("store: true reaches a host only with a key that may store there; the gateway stores the completion", async () => {
    const body = chat("test/chat", { store: true, metadata: { a: "b" }, temperature: 1.0 });
    answers();
    expect((await harness.post("/v1/chat/completions", body)).headers.get("x-trivium-dropped")).toBeNull();
    expect(Object.keys(sentUp() as object)).not.toContain("store");
    expect(Object.keys(sentUp() as object)).not.toContain("metadata");
    answers();
    expect((await harness.post("/v1/chat/completions", body, ALLOWED)).headers.get("x-trivium-dropped")).toBeNull();
    expect(sentUp()).toMatchObject({ store: true, metadata: { a: "b" } });
    answers();
    await harness.post("/v1/chat/completions", chat("test/chat", { store: false, metadata: { a: "b" } }));
    expect(sentUp()).toMatchObject({ store: false, metadata: { a: "b" } });
    answers("Hello.", "genai");
    await harness.post("/v1beta/models/test/genai:generateContent", genai({ store: true }));
    expect(Object.keys(sentUp() as object)).not.toContain("store");
  });

  test("the client's own functions, schemas and metadata may have such field names", async () => {
    answers();
    const parameters = {
      type: "object",
      properties: { file_id: { type: "string" } },
      examples: [{ file_id: "file-1" }],
    };
    const tools = [{ type: "function", function: { name: "open", parameters } }];
    expect((await harness.post("/v1/chat/completions", chat("test/chat", { tools }))).status).toBe(200);
  });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The secret of a key that another key makes. */
async function makeChild(request: object = {}, maker = TEST_KEY): Promise<string> {
  const made = await harness.post("/api/v1/keys", { name: "child", ...request }, maker);
  if (made.status !== 201) throw new Error(made.text);
  return (JSON.parse(made.text) as { data: { key: string } }).data.key;
}

describe("decision 0087: an object created here", () => {
  const RANDOM = "AbCdEfGhIjKlMnOpQrStU1";
  const create = (changes: object = {}) =>
    insertObject(machine.storage, {
      id: RANDOM,
      kind: "file",
      project: "default",
      keyId: "static:tests",
      share: "project",
      state: "uploaded",
      size: 0,
      metadata: { name: "notes.txt", mimeType: "text/plain" },
      createdAtMs: 0,
      ...changes,
    });
  const use = async (id: string, key = TEST_KEY): Promise<number> => {
    answers();
    const named = { type: "file", file: { file_id: id } };
    return (await harness.post("/v1/chat/completions", chat("test/chat", { messages: user([named]) }), key)).status;
  };

  test("is visible to every key of its project, in every form of its id, and to no other project", async () => {
    await create();
    for (const form of [`file-${RANDOM}`, `file_${RANDOM}`, `files/${RANDOM}`]) {
      expect([await use(form), await use(form, SAME_PROJECT), await use(form, OTHER_PROJECT)]).toEqual([200, 200, 400]);
    }
    expect(await use(`batch_${RANDOM}`)).toBe(400);
  });

  test("is visible only to the key that made it if it is private", async () => {
    await create({ share: "private" });
    expect([await use(`file-${RANDOM}`), await use(`file-${RANDOM}`, SAME_PROJECT)]).toEqual([200, 400]);
  });

  test("is not opened by provider_objects if it belongs to another", async () => {
    await create({ project: "others" });
    expect(await use(`file-${RANDOM}`, ALLOWED)).toBe(400);
    expect(await use("file-unknown", ALLOWED)).toBe(200);
  });

  test("is unknown if it has expired or is of another kind", async () => {
    await create({ expiresAtMs: 1 });
    expect(await use(`file-${RANDOM}`)).toBe(400);
    await create({ id: RANDOM.toLowerCase(), kind: "cache" });
    expect(await use(`file-${RANDOM.toLowerCase()}`)).toBe(400);
  });
});

interface Stored {
  id: string;
  output: { id: string }[];
}

async function store(key = TEST_KEY, more: JsonObject = {}): Promise<Stored> {
  answers("The word is Kupfer.");
  const made = await harness.post("/v1/responses", { model: "test/chat", input: "Say it.", ...more }, key);
  if (made.status !== 200) throw new Error(made.text);
  return JSON.parse(made.text) as Stored;
}

/**
 * What a key can do with a stored response: the statuses of each endpoint, and whether a request can build on it.
 * Deletes it last.
 */
async function reach({ id, output }: Stored, key: string): Promise<(number | string)[]> {
  const at = `/v1/responses/${id}`;
  const shown = await harness.ask("GET", at, key);
  const items = await harness.ask("GET", `${at}/input_items`, key);
  const cancelled = await harness.ask("POST", `${at}/cancel`, key);
  answers();
  const built = await harness.post(
    "/v1/responses",
    { model: "test/chat", input: "Go on.", previous_response_id: id },
    key,
  );
  answers();
  const reference = [{ type: "item_reference", id: output[0]?.id ?? "" }, ...user("Go on.")];
  const referred = await harness.post("/v1/responses", { model: "test/chat", input: reference }, key);
  const dropped = referred.headers.get("x-trivium-dropped") ?? "resolved";
  const deleted = await harness.ask("DELETE", at, key);
  for (const { text } of [shown, items, built]) {
    if (shown.status !== 200) expect(text).not.toContain("Kupfer");
  }
  return [shown.status, items.status, cancelled.status, built.status, dropped, deleted.status];
}

const ALL_OF_IT = [200, 200, 400, 200, "resolved", 200];
const NOTHING = [404, 404, 404, 400, "input[0]", 404];
const DELETION_ALONE = [404, 404, 404, 400, "input[0]", 200];

describe("decision 0087: a stored response belongs to the key that made it", () => {
  test("and is shared within its project, not beyond it", async () => {
    const made = await store();
    expect(await reach(made, OTHER_PROJECT)).toEqual(NOTHING);
    expect(await reach(made, SAME_PROJECT)).toEqual(ALL_OF_IT);
    expect((await harness.ask("GET", `/v1/responses/${made.id}`)).status).toBe(404);
  });

  test("one of a child key is private: not visible to siblings or the project; its creator may delete it, unseen", async () => {
    const [first, second] = [await makeChild(), await makeChild()];
    const made = await store(first);
    expect(await reach(made, second)).toEqual(NOTHING);
    expect(await reach(made, SAME_PROJECT)).toEqual(NOTHING);
    expect(await reach(made, OTHER_PROJECT)).toEqual(NOTHING);
    expect(await reach(made, TEST_KEY)).toEqual(DELETION_ALONE);
    expect(await reach(await store(first), first)).toEqual(ALL_OF_IT);
  });

  test("a child key sees what its project shares, and may share what it makes", async () => {
    const child = await makeChild();
    expect(await reach(await store(), child)).toEqual(ALL_OF_IT);
    const sharing = await makeChild({ objects: "project" });
    expect(await reach(await store(sharing), child)).toEqual(ALL_OF_IT);
  });

  test("a key with objects: private keeps its objects private", async () => {
    const made = await store(PRIVATE);
    expect(await reach(made, TEST_KEY)).toEqual(NOTHING);
    expect(await reach(made, PRIVATE)).toEqual(ALL_OF_IT);
  });

  test("a project with objects: private makes all of its keys private", async () => {
    const shared = await store();
    const project = {
      name: "default",
      limits: {},
      discounts: [],
      status: "active" as const,
      objects: "private" as const,
    };
    await insertProject(machine.storage, { id: "default", createdAtMs: 0 });
    await replaceProject(machine.storage, "default", project);
    await harness.gateway.keys.refresh();
    expect(await reach(await store(), SAME_PROJECT)).toEqual(NOTHING);
    expect(await reach(shared, SAME_PROJECT)).toEqual(ALL_OF_IT);
  });

  test("a revoked key can access nothing", async () => {
    const made = await harness.post("/api/v1/keys", { name: "child" });
    const { id, key } = (JSON.parse(made.text) as { data: { id: string; key: string } }).data;
    const answer = await store(key);
    expect((await harness.ask("DELETE", `/api/v1/keys/${id}`)).status).toBe(200);
    for (const end of ["", "/input_items"]) {
      expect((await harness.ask("GET", `/v1/responses/${answer.id}${end}`, key)).status).toBe(401);
    }
    expect((await harness.ask("DELETE", `/v1/responses/${answer.id}`, TEST_KEY)).status).toBe(200);
  });

  test("a background response is private from the start", async () => {
    const [first, second] = [await makeChild(), await makeChild()];
    answers();
    const queued = await harness.post(
      "/v1/responses",
      { model: "test/chat", input: "Say it.", background: true },
      first,
    );
    const { id } = JSON.parse(queued.text) as Stored;
    for (const [method, end] of [
      ["GET", ""],
      ["GET", "?stream=true"],
      ["POST", "/cancel"],
      ["DELETE", ""],
    ] as const) {
      expect((await harness.ask(method, `/v1/responses/${id}${end}`, second)).status).toBe(404);
    }
    expect((await harness.ask("GET", `/v1/responses/${id}`, first)).status).toBe(200);
  });
});

describe("decision 0088: every authenticated request counts towards requests_per_minute", () => {
  const asked = async (key: string): Promise<[name: string, ask: () => Promise<ReadAnswer>][]> => {
    const { id } = await store();
    return [
      ["a stored answer", () => harness.ask("GET", `/v1/responses/${id}`, key)],
      ["its input", () => harness.ask("GET", `/v1/responses/${id}/input_items`, key)],
      ["an unknown answer", () => harness.ask("GET", "/v1/responses/resp_none", key)],
      ["a cancellation", () => harness.ask("POST", `/v1/responses/${id}/cancel`, key)],
      ["a deletion", () => harness.ask("DELETE", "/v1/responses/resp_none", key)],
      ["a receipt", () => harness.ask("GET", "/api/v1/generation?id=rcp_none", key)],
      [
        "an operation",
        () =>
          harness.post(
            "/v1beta/models/test/film:fetchPredictOperation",
            { operationName: "models/test/film/operations/none" },
            key,
          ),
      ],
      ["a file", () => harness.get("/files/file_none", { authorization: `Bearer ${key}` })],
      ["its keys", () => harness.ask("GET", "/api/v1/keys", key)],
      ["one of its keys", () => harness.ask("GET", "/api/v1/keys/key_none", key)],
    ];
  };

  test("whatever it reads: the sixth in a minute is a 429 with retry-after, and counts together with calls", async () => {
    for (const [name, ask] of await asked(SLOW)) {
      await harness.clock.pass(61_000);
      const statuses: number[] = [];
      for (let n = 0; n < 5; n++) statuses.push((await ask()).status);
      expect([name, statuses.includes(429)]).toEqual([name, false]);
      const refused = await ask();
      expect([name, refused.status]).toEqual([name, 429]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await harness.post("/v1/chat/completions", chat("test/chat", {}), SLOW)).status).toBe(429);
    }
  });

  test("a refusal is in the caller's protocol", async () => {
    for (let n = 0; n < 5; n++) await harness.ask("GET", "/v1/responses/resp_none", SLOW);
    const answer = JSON.parse((await harness.ask("GET", "/v1/responses/resp_none", SLOW)).text) as object;
    expect(answer).toMatchObject({
      error: { code: "rate_limit_exceeded", message: expect.stringContaining("5 requests") },
    });
    const operation = await harness.post(
      "/v1beta/models/test/film:fetchPredictOperation",
      { operationName: "x" },
      SLOW,
    );
    expect(JSON.parse(operation.text)).toMatchObject({ error: { status: "RESOURCE_EXHAUSTED" } });
  });

  test("a client may poll a response while its only allowed call is making it", async () => {
    const { upstream } = machine;
    const answer = upstream.json(plainAnswer("chat", { text: "Hello.", usage: plainUsage("chat", 1, 1) }));
    upstream.play(async (...args) => {
      await machine.clock.sleep(1_000);
      await answer(...args);
    });
    const queued = await harness.post("/v1/responses", { model: "test/chat", input: "Hi", background: true }, SINGLE);
    const { id } = JSON.parse(queued.text) as Stored;
    expect((await harness.ask("GET", `/v1/responses/${id}`, SINGLE)).status).toBe(200);
    await machine.clock.pass(5_000);
    const done = JSON.parse((await harness.ask("GET", `/v1/responses/${id}`, SINGLE)).text) as { status: string };
    expect(done.status).toBe("completed");
  });
});

describe("S23: a page of input items", () => {
  test("of a large turn holds only what it shows, even a single item, and releases everything", async () => {
    const items = Array.from({ length: 12 }, (_, index) => ({
      role: "user",
      content: `${index}${"x".repeat(1024 * 1024)}`,
    }));
    const { id } = await store(TEST_KEY, { input: items });
    // Large content is sealed in another thread, for which the test's clock does not wait.
    const read = (query: string) => harness.ask("GET", `/v1/responses/${id}/input_items?${query}`);
    await eventually("the response to be stored", async () => (await read("limit=1")).status === 200);
    const page = await read("limit=1");
    expect(page.text.length).toBeLessThan(1.1 * 1024 * 1024);
    const whole = await read("limit=100");
    expect(whole.text.length).toBeLessThan(8.1 * 1024 * 1024);
    expect(JSON.parse(whole.text)).toMatchObject({ has_more: true });
    expect(harness.leftovers()).toMatchObject({ heldBytes: 0, runningCalls: 0 });
  });
});
