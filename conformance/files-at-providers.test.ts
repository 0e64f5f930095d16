import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { eventually } from "../testing/eventually.ts";
import { PlayedFilesHost } from "../testing/hosts/files-host.ts";
import { modelsOfEveryDialect } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const MEGABYTE = 1024 * 1024;
/** More than any of the hosts takes in a request. */
const LARGE = 40 * MEGABYTE;
const STRANGER = "trv_stranger_of_this_test_00001";

const content = Buffer.alloc(LARGE, "%PDF-1.7 the harbour opens at nine. ");
const digest = createHash("sha256").update(content).digest("hex");
const HEARD = `read ${digest} ${LARGE}`;

function configOf(url: string): Record<string, unknown> {
  const scripted = modelsOfEveryDialect(url, { first_byte: 10_000, idle: 10_000 }) as {
    providers: Record<string, object>;
    models: Record<string, unknown>[];
  };
  const providers = Object.fromEntries(
    Object.entries(scripted.providers).map(([name, one]) => [name, { ...one, files: true }]),
  );
  const bare = { kind: "openai-compatible", base_url: `${url}/v1`, api_key: "upstream-secret-bare" };
  const [chat, messages] = scripted.models;
  const offers = [
    { provider: "up-messages", model: "upstream-model" },
    { provider: "up-chat", model: "upstream-model" },
  ];
  const models = [
    ...scripted.models,
    { ...messages, id: "test/two", offers },
    { ...chat, id: "test/bare", offers: [{ provider: "up-bare", model: "upstream-model" }] },
  ];
  return { providers: { ...providers, "up-bare": bare }, models };
}

const KEYS = [
  { name: "tests", key: TEST_KEY, project: "red" },
  { name: "stranger", key: STRANGER, project: "blue" },
];

let host: PlayedFilesHost;
let gateway: TestGateway;
beforeAll(async () => {
  host = await new PlayedFilesHost().start();
  gateway = await startTestGateway({ config: { ...configOf(host.url), keys: KEYS, simulator: true } });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop();
});
beforeEach(() => host.reset());

const HEADERS = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
const ask = (path: string, body: unknown, key = TEST_KEY, signal?: AbortSignal) =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, ...HEADERS },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

async function upload(bytes: Buffer<ArrayBuffer> = content, type = "application/pdf", name = "a.pdf"): Promise<string> {
  const form = new FormData();
  form.append("purpose", "user_data");
  form.append("file", new Blob([bytes], { type }), name);
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const answer = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body: form });
  return ((await answer.json()) as { id: string }).id;
}

const remove = (id: string) =>
  fetch(`${gateway.url}/v1/files/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${TEST_KEY}` } });

/** A request that names a file, in each protocol. */
const CALLS = {
  chat: (model: string, file: string, key?: string, signal?: AbortSignal) =>
    ask(
      "/v1/chat/completions",
      { model, messages: [{ role: "user", content: [{ type: "file", file: { file_id: file } }] }] },
      key,
      signal,
    ),
  responses: (model: string, file: string, key?: string) =>
    ask("/v1/responses", { model, input: [{ role: "user", content: [{ type: "input_file", file_id: file }] }] }, key),
  messages: (model: string, file: string, key?: string) =>
    ask(
      "/v1/messages",
      {
        model,
        max_tokens: 100,
        messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: file } }] }],
      },
      key,
    ),
  genai: (model: string, file: string, key?: string) =>
    ask(
      `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
      {
        contents: [
          { role: "user", parts: [{ fileData: { fileUri: `${gateway.url}/v1beta/files/${file.slice(-22)}` } }] },
        ],
      },
      key,
    ),
};

interface Tried {
  provider: string;
  outcome: string;
  files: { uploaded: number; reused: number } | null;
}
const offersOf = async (response: Response): Promise<Tried[]> =>
  (await gateway.receipt(response)).offers as unknown as Tried[];

describe("choices 12: a file that does not fit into a request is uploaded to the provider", () => {
  test("every protocol reaches every provider, and each credential gets the file once", async () => {
    const file = await upload();
    for (const model of ["test/chat", "test/responses", "test/messages", "test/genai"]) {
      for (const [protocol, call] of Object.entries(CALLS)) {
        const response = await call(model, file);
        expect([protocol, model, response.status, (await response.text()).includes(HEARD)]).toEqual([
          protocol,
          model,
          200,
          true,
        ]);
      }
    }
    // Chat completions and responses share the files of a credential.
    expect(host.counts).toMatchObject({ uploads: 3, calls: 16, refusedCalls: 0 });
    for (const { body } of host.calls) expect(body).not.toContain(file.slice(-22));
  }, 60_000);

  test("the receipt says what was uploaded and what the provider had, and counts the time as the provider's", async () => {
    host.faults.slowMs = 1;
    const file = await upload();
    const first = await CALLS.messages("test/messages", file);
    expect(await offersOf(first)).toMatchObject([{ outcome: "answered", files: { uploaded: 1, reused: 0 } }]);
    const { timing, total_ms } = await gateway.receipt(first);
    expect(timing?.provider_first_content_ms ?? 0).toBeGreaterThan(0.8 * total_ms);
    expect(await offersOf(await CALLS.chat("test/messages", file))).toMatchObject([
      { files: { uploaded: 0, reused: 1 } },
    ]);
    const small = await upload(Buffer.from("%PDF small"));
    expect(await offersOf(await CALLS.chat("test/messages", small))).toMatchObject([{ files: null }]);
  }, 30_000);

  test("requests to hosts with betas ask for the feature, next to the client's own", async () => {
    const file = await upload();
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, ...HEADERS, "anthropic-beta": "other-2026-01-01" },
      body: JSON.stringify({
        model: "test/messages",
        max_tokens: 100,
        messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: file } }] }],
      }),
    });
    expect(response.status).toBe(200);
    expect(host.calls[0]?.headers["anthropic-beta"]).toBe("other-2026-01-01,files-api-2025-04-14");
  });

  test("calls at the same time share one upload", async () => {
    host.faults.slowMs = 1;
    const file = await upload();
    const responses = await Promise.all(Array.from({ length: 12 }, () => CALLS.chat("test/genai", file)));
    for (const response of responses) expect(await response.text()).toContain(HEARD);
    expect(host.counts.uploads).toBe(1);
  }, 30_000);

  test("a client that disconnects does not end the upload, and the next call uses it", async () => {
    host.faults.slowMs = 1;
    const file = await upload();
    const gone = new AbortController();
    const first = CALLS.chat("test/messages", file, TEST_KEY, gone.signal).catch(() => undefined);
    await eventually("the files at the provider", () => host.counts.uploads === 1);
    gone.abort();
    await first;
    const response = await CALLS.chat("test/messages", file);
    expect(await response.text()).toContain(HEARD);
    expect(host.counts).toMatchObject({ uploads: 1, calls: 1 });
  }, 30_000);

  test("a file that is processed is used when it is ready, and one that fails goes to no call", async () => {
    host.faults.processing = 2;
    const file = await upload();
    expect((await CALLS.genai("test/genai", file)).status).toBe(200);
    expect(host.counts.shows).toBeGreaterThan(0);
    host.faults.fails = true;
    const failing = await upload();
    expect((await CALLS.genai("test/genai", failing)).status).toBe(502);
    expect(host.counts).toMatchObject({ uploads: 2, deletions: 1, calls: 1 });
  }, 30_000);

  test("an upload that fails is a failed attempt, and the next offer gets the file", async () => {
    host.faults.refusals = { status: 400, times: 1 };
    const file = await upload();
    const response = await CALLS.chat("test/two", file);
    expect(await response.text()).toContain(HEARD);
    expect(await offersOf(response)).toMatchObject([
      { provider: "up-messages", outcome: "failed", files: null },
      { provider: "up-chat", outcome: "answered", files: { uploaded: 1, reused: 0 } },
    ]);
    host.faults.refusals = { status: 500, times: 1 };
    // The same offer is asked once more.
    const again = await CALLS.chat("test/messages", file);
    expect(await offersOf(again)).toMatchObject([{ outcome: "failed" }, { outcome: "answered" }]);
  }, 30_000);

  test("choices 12: a file that its provider has deleted is uploaded again, once", async () => {
    const file = await upload();
    for (const model of ["test/chat", "test/messages", "test/genai"]) {
      expect((await CALLS.chat(model, file)).status).toBe(200);
      host.files.clear();
      const response = await CALLS.chat(model, file);
      expect([model, response.status, (await response.text()).includes(HEARD)]).toEqual([model, 200, true]);
      expect(await offersOf(response)).toMatchObject([{ outcome: "answered", files: { uploaded: 1 } }]);
    }
    expect(host.counts).toMatchObject({ uploads: 6, refusedCalls: 3 });
  }, 30_000);

  test("S10: an error about a file names the client's id, never the provider's", async () => {
    const file = await upload();
    expect((await CALLS.chat("test/messages", file)).status).toBe(200);
    // It cannot be used by this credential, although it is there.
    for (const known of host.files.values()) known.vendor = "openai";
    const response = await CALLS.chat("test/messages", file);
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).toContain(file);
    expect(text).not.toContain("anthropic1");
    expect(host.counts.uploads).toBe(1);
  });

  test("deleting a file deletes it at every provider", async () => {
    const file = await upload();
    for (const model of ["test/chat", "test/messages", "test/genai"]) await CALLS.chat(model, file);
    expect(host.files.size).toBe(3);
    expect((await remove(file)).status).toBe(200);
    await eventually("the files at the provider", () => host.files.size === 0);
    expect(host.counts.deletions).toBe(3);
  }, 30_000);

  test("a file that is deleted while it is uploaded does not stay at the provider", async () => {
    host.faults.slowMs = 2;
    const file = await upload();
    const call = CALLS.chat("test/messages", file);
    await eventually("the files at the provider", () => host.counts.uploads === 1);
    await remove(file);
    await call;
    await eventually("the files at the provider", () => host.counts.deletions === 1);
    expect(host.files.size).toBe(0);
  }, 30_000);

  test("H43: the file of another project is 400 and is not uploaded", async () => {
    const file = await upload();
    for (const call of Object.values(CALLS)) expect((await call("test/messages", file, STRANGER)).status).toBe(400);
    expect(host.counts.uploads).toBe(0);
  });

  test("images are uploaded where a protocol can name them, and otherwise refused with 413", async () => {
    const image = await upload(Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), content]), "image/png", "a.png");
    const response = await CALLS.responses("test/responses", image);
    expect(response.status).toBe(200);
    expect(host.calls[0]?.body).toContain('"type":"input_image"');
    // Chat completions have no ids of images.
    const refused = await CALLS.chat("test/chat", image);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain("messages[0].content[0]");
  }, 30_000);

  test("a host without a files API gets what fits inline, and 413 names the file that does not", async () => {
    const file = await upload();
    expect((await CALLS.chat("test/bare", file)).status).toBe(200);
    expect(host.calls[0]?.body.length).toBeGreaterThan(LARGE);
    const larger = await upload(Buffer.alloc(70 * MEGABYTE, "x"));
    expect((await CALLS.chat("test/bare", larger)).status).toBe(413);
    expect(host.counts.uploads).toBe(0);
  }, 30_000);

  test("a file that is named many times counts as often", async () => {
    const file = await upload(Buffer.alloc(6 * MEGABYTE, "x"));
    const part = { type: "file", file: { file_id: file } };
    const messages = [{ role: "user", content: Array.from({ length: 20 }, () => part) }];
    expect((await ask("/v1/chat/completions", { model: "test/bare", messages })).status).toBe(413);
    expect((await ask("/v1/chat/completions", { model: "test/chat", messages })).status).toBe(200);
    expect(host.counts.uploads).toBe(1);
  }, 30_000);

  test("H24: another credential gets its own copy", async () => {
    const file = await upload();
    expect((await CALLS.chat("test/messages", file)).status).toBe(200);
    const before = readFileSync(gateway.configFile, "utf8");
    writeFileSync(gateway.configFile, before.replace("upstream-secret-messages", "upstream-secret-rotated"));
    gateway.app.reload();
    const response = await CALLS.chat("test/messages", file);
    expect(await response.text()).toContain(HEARD);
    expect(host.counts).toMatchObject({ uploads: 2, refusedCalls: 0 });
    writeFileSync(gateway.configFile, before);
    gateway.app.reload();
  }, 30_000);
});

describe("choices 12: the built-in simulator has the files APIs of three vendors", () => {
  test.each(["sim/standard", "sim/standard-messages", "sim/standard-genai", "sim/standard-responses"])(
    "%s gets a large file by its id, in every protocol",
    async (model) => {
      const file = await upload();
      for (const [protocol, call] of Object.entries(CALLS)) {
        const response = await call(model, file);
        expect([protocol, response.status]).toEqual([protocol, 200]);
        const [offer] = await offersOf(response);
        expect([protocol, (offer?.files?.uploaded ?? 0) + (offer?.files?.reused ?? 0)]).toEqual([protocol, 1]);
      }
      const shown = await fetch(`${gateway.adminUrl}/api/objects?kind=file&id=${file}`, {
        headers: { authorization: `Bearer ${gateway.adminSecret}` },
      });
      expect(await shown.json()).toMatchObject({ data: [{ providers: ["simulator"] }] });
      expect((await remove(file)).status).toBe(200);
    },
    60_000,
  );
});
