import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../testing/eventually.ts";
import { openMemoryStorage } from "../../../testing/memory-storage.ts";
import { KeyRing } from "../../access/key-ring.ts";
import { system } from "../../base/system.ts";
import { DEFAULT_LIVE } from "../../config/default-live.ts";
import { BUILT_IN_DIALECTS } from "../../dialects/index.ts";
import { sampleBytes } from "../../files/file-store.contract.ts";
import { Files } from "../../files/files.ts";
import { openFileStore } from "../../files/open-file-store.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { DEFAULT_TIMINGS } from "../../relay/settle/timings.ts";
import type { Storage } from "../../storage/storage.ts";
import type { StoredFile } from "../../storage/tables/files.ts";
import { type Listener, listen } from "../listener.ts";
import { LiveSessions } from "../live/live-sessions.ts";
import type { Method } from "../route-table.ts";
import type { Handler, ServerContext } from "../routed-request.ts";
import { getFile } from "./files.ts";

const bytes = sampleBytes(1_000_000);
const KEYS = { red: "key-of-red", blue: "key-of-blue" };
const folder = mkdtempSync(join(tmpdir(), "trivium-send-"));
let storage: Storage;
let files: Files;
let listener: Listener;
let video: StoredFile;
let nowMs = Date.now();

beforeAll(async () => {
  storage = await openMemoryStorage(system.clock);
  const staticKeys = Object.entries(KEYS).map(([project, key]) => ({ name: project, project, key, models: ["*"] }));
  const keys = await KeyRing.open({ ...system, storage, staticKeys, clock: { ...system.clock, wallMs: () => nowMs } });
  files = await Files.open({
    storage,
    store: await openFileStore(join(folder, "blobs"), {}, system),
    publicUrl: () => listener.url,
    random: system.random,
  });
  const gateway = {
    clock: { ...system.clock, nowMs: () => nowMs },
    random: system.random,
    keys,
    admissions: { count: () => {} },
    timings: DEFAULT_TIMINGS,
    background: { running: 0 },
    metrics: { refused: () => {} },
    refusals: { count: () => false },
    log: { error: console.error, debug: () => {} },
  } as unknown as Gateway;
  const context = {
    dialects: BUILT_IN_DIALECTS,
    gateway: { ...gateway, files, snapshot: { live: DEFAULT_LIVE } },
    live: new LiveSessions(system.clock),
    storage,
    accepting: () => true,
    draining: () => false,
    publicUrl: () => "http://gateway.example",
  } as unknown as ServerContext;
  const handle = getFile.handle as unknown as Handler;
  const route = { path: /^\/files\/(?<id>[^/]+)$/, access: "open", dialect: "chat", door: "contract", handle } as const;
  listener = listen({
    host: "127.0.0.1",
    port: 0,
    publicUrl: "http://127.0.0.1",
    routes: ["GET", "HEAD"].map((method) => ({ ...route, method: method as Method })),
    context,
  });
  video = await files.keep({ project: "red", owner: "op_1", mimeType: "video/mp4", content: bytes, nowMs });
});
afterAll(async () => {
  await listener.drain(0);
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (headers: Record<string, string> = {}, method = "GET", url = files.urlOf(video, "static:red")) =>
  fetch(url, { headers, method });
const bodyOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());
const isSame = (one: Uint8Array, other: Uint8Array) => one.length === other.length && Bun.hash(one) === Bun.hash(other);

describe("GET and HEAD /files/{id}", () => {
  test("the whole file, with its recorded type and headers that keep a browser from guessing", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(isSame(await bodyOf(response), bytes)).toBe(true);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      "content-type": "video/mp4",
      "content-length": "1000000",
      "content-disposition": `inline; filename="${video.id}.mp4"`,
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      etag: `"${video.id}"`,
    });
    expect(headers["cache-control"]).toStartWith("private, max-age=");
  });

  test("HEAD returns the same headers without a body", async () => {
    const [head, whole] = await Promise.all([get({ range: "bytes=0-9" }, "HEAD"), get()]);
    expect(head.status).toBe(200);
    expect((await bodyOf(head)).length).toBe(0);
    const shown = (response: Response) =>
      ["content-type", "content-length", "etag", "accept-ranges"].map((name) => response.headers.get(name));
    expect(shown(head)).toEqual(shown(whole));
    await whole.arrayBuffer();
  });

  test.each([
    ["bytes=0-0", 0, 1],
    ["bytes=10-99", 10, 100],
    ["bytes=262143-262145", 262_143, 262_146],
    ["bytes=999999-", 999_999, 1_000_000],
    ["bytes=500000-99999999999999999999999", 500_000, 1_000_000],
    ["bytes=-1", 999_999, 1_000_000],
    ["bytes=-2000000", 0, 1_000_000],
    ["BYTES=0-9", 0, 10],
  ])("range %p is exact to the byte", async (range, start, end) => {
    const response = await get({ range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(`bytes ${start}-${end - 1}/1000000`);
    expect(response.headers.get("content-length")).toBe(String(end - start));
    expect(isSame(await bodyOf(response), bytes.subarray(start, end))).toBe(true);
  });

  test.each(["bytes=1000000-", "bytes=1000000-1000001", "bytes=-0"])(
    "range %p cannot be satisfied: 416",
    async (range) => {
      const response = await get({ range });
      expect(response.status).toBe(416);
      expect(response.headers.get("content-range")).toBe("bytes */1000000");
      expect((await bodyOf(response)).length).toBe(0);
    },
  );

  test.each(["bytes=5-4", "bytes=0-1,5-6", "items=0-1", "bytes=a-b", "bytes=-", "bytes", "0-5"])(
    "range %p is not supported: the whole file",
    async (range) => {
      const response = await get({ range });
      expect(response.status).toBe(200);
      expect((await bodyOf(response)).length).toBe(1_000_000);
    },
  );

  test("if-range: only the part of this version, otherwise the whole", async () => {
    for (const [condition, status] of [
      [`"${video.id}"`, 206],
      [`W/"${video.id}"`, 200],
      ['"another"', 200],
      ["Wed, 21 Oct 2026 07:28:00 GMT", 200],
    ] as const) {
      const response = await get({ range: "bytes=0-9", "if-range": condition });
      expect(response.status).toBe(status);
      expect((await bodyOf(response)).length).toBe(status === 206 ? 10 : 1_000_000);
    }
  });

  test("a client that already has the file gets 304", async () => {
    const response = await get({ "if-none-match": `"${video.id}"` });
    expect(response.status).toBe(304);
  });

  test.each(["authorization", "x-api-key", "x-goog-api-key"])(
    "a key of the owning project opens it: %s",
    async (name) => {
      const value = name === "authorization" ? `Bearer ${KEYS.red}` : KEYS.red;
      const response = await get({ [name]: value }, "GET", `${listener.url}/files/${video.id}`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    },
  );

  test("S09: strangers, wrong signatures, expired and unknown files get exactly the same response", async () => {
    const plain = `${listener.url}/files/${video.id}`;
    const signed = files.urlOf(video, "static:red");
    const unknown = `${listener.url}/files/file_${"A".repeat(22)}`;
    const old = await files.keep({ project: "red", owner: "o", mimeType: "", content: bytes, nowMs: nowMs - 1e9 });
    const attempts: [string, Record<string, string>][] = [
      [plain, {}],
      [plain, { authorization: `Bearer ${KEYS.blue}` }],
      [plain, { "x-api-key": "sk-trv-nobody" }],
      [`${plain}?key=${KEYS.red}`, {}],
      [`${signed.slice(0, -1)}${signed.endsWith("A") ? "B" : "A"}`, {}],
      [signed.replace(/expires=\d+/, "expires=9999999999"), {}],
      [signed.replace(/&signature.*/, ""), {}],
      [signed.replace(video.id, old.id), {}],
      [files.urlOf(old, "static:red"), {}],
      [`${listener.url}/files/${old.id}`, { authorization: `Bearer ${KEYS.red}` }],
      [unknown, { authorization: `Bearer ${KEYS.red}` }],
      [`${listener.url}/files/..%2F..%2Fetc%2Fpasswd`, { authorization: `Bearer ${KEYS.red}` }],
      [`${listener.url}/files/%00`, { authorization: `Bearer ${KEYS.red}` }],
    ];
    const said = new Set<string>();
    for (const [url, headers] of attempts) {
      const response = await get(headers, "GET", url);
      expect([url, response.status]).toEqual([url, 404]);
      // A path with slashes in it matches no file route.
      if (!url.includes("%2F")) said.add(await response.text());
    }
    expect([...said]).toHaveLength(1);
    expect([...said][0]).toContain("file_not_found");
  });

  test("a signed URL expires", async () => {
    const url = files.urlOf(video, "static:red", nowMs + 60_000);
    const before = nowMs;
    nowMs += 61_000;
    expect((await get({}, "GET", url)).status).toBe(404);
    nowMs = before;
    expect((await get({}, "HEAD", url)).status).toBe(200);
  });

  test("clients that disconnect in the middle keep no file open, and slow ones take no memory", async () => {
    const large = await files.keep({
      project: "red",
      owner: "op_2",
      mimeType: "video/mp4",
      content: new Uint8Array(64 * 1024 * 1024),
      nowMs,
    });
    const url = new URL(files.urlOf(large, "static:red"));
    const linkOf = (descriptor: string) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        // The descriptor of the listing is closed by now.
        return "";
      }
    };
    const openBlobs = () => readdirSync("/proc/self/fd").filter((one) => linkOf(one).includes(folder)).length;
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    const sockets = await Promise.all(
      Array.from({ length: 10 }, () =>
        Bun.connect({
          hostname: url.hostname,
          port: Number(url.port),
          socket: { data: (socket) => void socket.pause() },
        }),
      ),
    );
    for (const socket of sockets) socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await eventually("all files to be read", () => openBlobs() === sockets.length, { seen: openBlobs });
    // By the time that another client has all of it, they would have been read too.
    for await (const _ of (await fetch(url)).body ?? []);
    // Ten whole files would be 640 MB.
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
    expect(openBlobs()).toBeGreaterThan(0);
    for (const socket of sockets) socket.terminate();
    await eventually("all files to be closed", () => openBlobs() === 0, { seen: openBlobs });
  });
});
