import { expect, test } from "bun:test";
import { connect } from "node:net";
import { system } from "../../src/base/system.ts";
import { DEFAULT_LIVE } from "../../src/config/default-live.ts";
import { BUILT_IN_DIALECTS } from "../../src/dialects/index.ts";
import { MemoryBudget } from "../../src/relay/request/memory-budget.ts";
import { DEFAULT_TIMINGS } from "../../src/relay/settle/timings.ts";
import { getFile } from "../../src/server/endpoints/files.ts";
import { fetchVideoOperation } from "../../src/server/endpoints/videos.ts";
import { listen } from "../../src/server/listener.ts";
import { LiveSessions } from "../../src/server/live/live-sessions.ts";
import type { Handler, ServerContext } from "../../src/server/routed-request.ts";
import { buildCall } from "../../testing/build-call.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { wire } from "../../testing/upstream-wire.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";
import { sendJson, sleep, startEvents } from "../support/scripted-upstream.ts";

/** The runtime checks silent connections every four seconds. */
const LOOK_MS = 4_000;
/** Longer than a busy machine keeps a call waiting for the watchdog, which suspends the timeout of its connection. */
const SILENCE_MS = 7_000;

const { upstream, gateway } = await scriptedHarness((url) => ({
  config: scriptedModels(url, { first_byte: 60_000, idle: 60_000 }),
  timings: { strangerConnectionMs: SILENCE_MS, idleConnectionMs: SILENCE_MS },
}));

/** Everything received on a connection until the gateway closes it. */
async function watch(bytes: string): Promise<string> {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  const closed = Promise.withResolvers<void>();
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve());
  socket.write(bytes);
  await closed.promise;
  return text;
}

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`;

function call(dialect: "chat" | "genai", stream: boolean): string {
  const [url, init] = buildCall(gateway.url, dialect, gateway.key, { stream });
  const { pathname, search } = new URL(url);
  const body = String(init.body);
  const headers = Object.entries({ host: "127.0.0.1", ...(init.headers as object), "content-length": body.length });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `POST ${pathname}${search} HTTP/1.1\r\n${lines}\r\n${body}`;
}

test.concurrent("S16: silent connections are closed, before and after a call, but not during a response", async () => {
  const slowMs = SILENCE_MS + LOOK_MS + 1_000;
  upstream.play(async ({ path }, response) => {
    if (path.includes("stream")) {
      startEvents(response);
      response.write(wire.genaiChunk("a"));
      await sleep(slowMs);
      response.end(wire.genaiChunk("b", "STOP"));
      return;
    }
    await sleep(slowMs);
    const message = { role: "assistant", content: "hello" };
    sendJson(response, { id: "1", object: "chat.completion", choices: [{ index: 0, finish_reason: "stop", message }] });
  });
  const [health, wrongKey, notFound, slowAnswer, slowStream] = await Promise.all([
    watch(get("/healthz")),
    watch(call("chat", false).replace(gateway.key, "sk-trv-wrong")),
    watch(get("/api/v1/generation?id=x", `authorization: Bearer ${gateway.key}\r\n`)),
    watch(call("chat", false)),
    watch(call("genai", true)),
  ]);
  expect(health).toStartWith("HTTP/1.1 200");
  expect(wrongKey).toStartWith("HTTP/1.1 401");
  expect(notFound).toStartWith("HTTP/1.1 404");
  expect(slowAnswer).toStartWith("HTTP/1.1 200");
  expect(slowStream).toStartWith("HTTP/1.1 200");
  expect(slowStream).toContain("FINISH_REASON_STOP");
});

/** A listener whose handlers only wait for a slow store. */
function slowStore(slowMs: number) {
  const record = { id: "f1", project: "red", mimeType: "video/mp4", size: 5, expiresAtMs: Date.now() + 60_000 };
  const files = {
    read: async () => record,
    open: async () => {
      await sleep(slowMs);
      return { stream: new Response("video").body };
    },
  };
  const operation = {
    id: "o1",
    project: "red",
    provider: "p",
    model: "test/video",
    state: "done",
    claimed: true,
    parts: [{ videos: [{ file: "f1", mimeType: "video/mp4" }] }],
  };
  const context = {
    gateway: {
      files,
      admissions: { count: () => {} },
      keys: { identify: () => ({ project: "red", keyId: "k", keyName: "k" }) },
      memory: new MemoryBudget(1024 * 1024),
      watchdog: { watch: () => {}, unwatch: () => {}, atEndOfTurn: (run: () => void) => run() },
      background: { running: 0 },
      snapshot: { live: DEFAULT_LIVE },
      timings: { ...DEFAULT_TIMINGS, strangerConnectionMs: SILENCE_MS, idleConnectionMs: SILENCE_MS },
      ...system,
      log: { error: console.error, debug: () => {}, warn: () => {} },
    },
    live: new LiveSessions(system.clock),
    dialects: BUILT_IN_DIALECTS,
    operations: { find: async () => operation, keptHours: 48 },
    accepting: () => true,
    draining: () => false,
  } as unknown as ServerContext;
  const sums: Handler = async () => {
    await sleep(slowMs);
    return new Response("sums");
  };
  const route = { dialect: "chat", door: "contract" } as const;
  return listen({
    host: "127.0.0.1",
    port: 0,
    publicUrl: "http://127.0.0.1",
    routes: [
      { ...route, method: "GET", path: "/sums", access: "admin", roles: ["admin"], handle: sums },
      { ...route, method: "GET", path: "/files", access: "signed", handle: getFile.handle },
      { ...route, method: "POST", path: "/poll", access: "key", handle: fetchVideoOperation.handle },
    ],
    authorize: async () => ({ id: "admin", name: "admin", role: "admin" }),
    context,
  });
}

test.concurrent("S16: an authenticated client waits longer for a slow store than a stranger may be silent", async () => {
  const listener = slowStore(SILENCE_MS + LOOK_MS + 1_000);
  const headers = { authorization: "Bearer k", "content-type": "application/json", "x-trivium-media": "inline" };
  const operationName = "publishers/test/models/video/operations/o1";
  const [sums, file, poll] = await Promise.all([
    fetch(`${listener.url}/sums`, { headers }).then((response) => response.text()),
    fetch(`${listener.url}/files`, { headers }).then((response) => response.text()),
    fetch(`${listener.url}/poll`, { method: "POST", headers, body: JSON.stringify({ operationName }) }).then(
      (response) => response.text(),
    ),
  ]);
  await listener.drain(0);
  expect(sums).toBe("sums");
  expect(file).toBe("video");
  expect(poll).toContain(Buffer.from("video").toString("base64"));
});
