import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildCall } from "../testing/build-call.ts";
import { eventually } from "../testing/eventually.ts";
import { scriptedModels } from "../testing/scripted-models.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { wire } from "../testing/upstream-wire.ts";
import { listeningAt } from "./support/program.ts";
import { type ScriptedUpstream, startEvents, startScriptedUpstream } from "./support/scripted-upstream.ts";

/**
 * The runtime runs at most 256 concurrent fetches unless configured before it starts, as bin/trivium does. So the
 * gateway is a separate process here, and its clients are plain sockets without that limit.
 */
const COUNT = 1000;
const folder = mkdtempSync(join(tmpdir(), "trivium-many-"));
let upstream: ScriptedUpstream;
let gateway: ReturnType<typeof Bun.spawn>;
let url: string;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const config = {
    server: { port: 0, drain_seconds: 0.5 },
    admin: { port: 0, secret: "an-admin-secret-for-the-tests" },
    data_dir: join(folder, "data"),
    simulator: false,
    keys: [{ name: "tests", key: TEST_KEY }],
    ...scriptedModels(upstream.url, { first_byte: 60_000, idle: 60_000 }),
  };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
  const program = new URL("../bin/trivium", import.meta.url).pathname;
  const started = Bun.spawn([program, "serve", "--workers", "1", "--log-level", "error"], {
    cwd: folder,
    stdout: "pipe",
    stderr: "inherit",
  });
  gateway = started;
  url = (await listeningAt(started.stdout)).url;
});
afterAll(async () => {
  gateway.kill();
  await gateway.exited;
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One streaming call over a bare socket; resolves with everything received. A client may read late. */
function call(sockets: Socket[], lateMs = 0): Promise<string> {
  const [address, init] = buildCall(url, "chat", TEST_KEY, { stream: true });
  const { hostname, port, pathname } = new URL(address);
  const body = String(init.body);
  const headers = Object.entries(init.headers as Record<string, string>).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const parts: Buffer[] = [];
  let last = "";
  socket.on("data", (part: Buffer) => {
    parts.push(part);
    last = (last + part.toString("latin1")).slice(-64);
    if (last.includes("[DONE]")) resolve(Buffer.concat(parts).toString());
  });
  socket.on("error", reject);
  if (lateMs > 0) {
    socket.pause();
    setTimeout(() => socket.resume(), lateMs);
  }
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers.join("")}content-length: ${body.length}\r\n\r\n${body}`,
  );
  return promise;
}

test("1,000 upstream calls are open at once, and all of them succeed", async () => {
  const waiting: ServerResponse[] = [];
  upstream.play((_request, response) => {
    startEvents(response);
    response.write(wire.chatChunk({ role: "assistant", content: "hello" }));
    waiting.push(response);
  });
  const sockets: Socket[] = [];
  const answers: Promise<string>[] = [];
  for (let started = 0; started < COUNT; started += 100) {
    for (let each = 0; each < 100; each++) answers.push(call(sockets));
    await eventually("these calls to be upstream", () => waiting.length >= answers.length, {
      seen: () => waiting.length,
    });
  }
  expect(upstream.open).toBe(COUNT);
  for (const response of waiting) response.end(wire.chatChunk({}, "stop") + wire.done);
  const texts = await Promise.all(answers);
  expect(texts.filter((text) => text.startsWith("HTTP/1.1 200") && text.includes("hello"))).toHaveLength(COUNT);
  for (const socket of sockets) socket.destroy();
});

test("slow clients get all of their own bytes, whatever the size of the response", async () => {
  const words = (asked: number) =>
    Array.from({ length: [20, 400, 2_000, 20_000][asked % 4] ?? 1 }, (_, at) => `${asked}:${at} ü `);
  let asked = 0;
  upstream.play((_request, response) => {
    const chunks = words(asked++).map((content) => wire.chatChunk({ content }));
    startEvents(response);
    response.end(chunks.join("") + wire.chatChunk({}, "stop") + wire.done);
  });
  const sockets: Socket[] = [];
  const texts = await Promise.all(Array.from({ length: 40 }, (_, index) => call(sockets, (index % 5) * 100)));
  const seen = new Set<number>();
  for (const text of texts) {
    const contents = [...text.matchAll(/"delta":\{"content":"([^"]*)"/g)].map((match) => match[1]);
    const whose = Number.parseInt(contents[0] ?? "", 10);
    seen.add(whose);
    expect(contents.join("")).toBe(words(whose).join(""));
  }
  expect(seen.size).toBe(texts.length);
  for (const socket of sockets) socket.destroy();
});
