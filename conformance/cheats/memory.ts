import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { buildCall } from "../../testing/build-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { startEvents } from "../support/scripted-upstream.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";
import { ProgramHarness } from "./program-harness.ts";
import { open } from "./rude-client.ts";

const MB = 1024 * 1024;
/** `server.memory_mb` is 512, in bytes on the wire; the process may hold several copies until they are collected. */
const MAX_MB = 3 * 512;
const SLOWEST_MS = 1_500;
const BODY_MB = 59;

/** S17, S18, S19, S23: what a key, or a host, can make the program hold or process. */
export async function openMemory(): Promise<CheatGroup> {
  const harness = await ProgramHarness.start({ simulator: true });
  const measured = (id: string, tries: string, attack: () => Promise<string>): Cheat => ({
    id,
    tries,
    run: async (): Promise<Outcome> => {
      harness.forgetMost();
      const startedMs = performance.now();
      const playing = attack();
      const slowest = await harness.slowest(playing);
      const got = await playing;
      const { mostMb, nowMb } = harness.memory();
      const ms = Math.round(performance.now() - startedMs);
      const figures = `at most ${mostMb} MB, ${nowMb} MB after it, ${ms} ms, others waited ${slowest} ms at most`;
      if (mostMb > MAX_MB) return { got, figures, broken: `more than ${MAX_MB} MB` };
      return slowest > SLOWEST_MS
        ? { got, figures, broken: `others waited more than ${SLOWEST_MS} ms` }
        : { got, figures };
    },
  });
  return {
    cheats: [
      ...simulatorPort(harness),
      ...bodies(harness, measured),
      ...forms(harness, measured),
      ...answers(harness, measured),
    ],
    close: () => harness.stop(),
  };
}

type Measured = (id: string, tries: string, attack: () => Promise<string>) => Cheat;

/** The simulator's own port: models without a key of the gateway, and without a row. */
function simulatorPort(harness: ProgramHarness): Cheat[] {
  const ways: Record<string, Record<string, string>> = {
    "with no key": {},
    "with a key of the gateway": { authorization: `Bearer ${TEST_KEY}` },
    "with any key": { authorization: "Bearer any", "x-api-key": "any", "x-goog-api-key": "any" },
    "from a page of another origin": { authorization: "Bearer any", origin: "https://evil.example" },
    "under a rebound name": { authorization: "Bearer any", host: "evil.example" },
  };
  const hosts: Record<string, object> = {
    "/openai/v1/chat/completions": { model: "standard", messages: [{ role: "user", content: "a" }] },
    "/anthropic/v1/messages": { model: "standard", max_tokens: 9, messages: [{ role: "user", content: "a" }] },
    "/gemini/v1beta/models/standard:generateContent": { contents: [{ role: "user", parts: [{ text: "a" }] }] },
  };
  return Object.entries(ways).map(([way, headers]) => ({
    id: "S19",
    tries: `calls the simulator at its own port ${way}`,
    run: async () => {
      const own = [harness.url, harness.adminUrl].map((url) => Number(new URL(url).port));
      const others = harness.ports().filter((port) => !own.includes(port));
      const statuses: number[] = [];
      for (const port of others) {
        for (const [path, body] of Object.entries(hosts)) {
          const response = await fetch(`http://127.0.0.1:${port}${path}`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify(body),
          });
          await response.text();
          statuses.push(response.status);
        }
      }
      const got = statuses.join(", ");
      if (others.length === 0) return { got, broken: "its port was not found" };
      return statuses.some((status) => status < 400) ? { got, broken: "it answers strangers" } : { got };
    },
  }));
}

/** Bodies that arrive slowly, or are crafted for the parser. */
function bodies(harness: ProgramHarness, measured: Measured): Cheat[] {
  const [url, init] = buildCall(harness.url, "chat", TEST_KEY);
  const post = async (body: string) => {
    const response = await fetch(url, { ...init, body });
    await response.text();
    return String(response.status);
  };
  const model = '{"model":"test/chat","messages":';
  return [
    measured("S17", `ten bodies of ${BODY_MB} MB that stop before their last byte`, async () => {
      const refused: string[] = [];
      const headers = Object.entries(init.headers as Record<string, string>).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      const head = `POST ${new URL(url).pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers.join("")}content-length: ${BODY_MB * MB}\r\n\r\n`;
      const chunk = Buffer.alloc(MB, "x");
      const sockets: Socket[] = [];
      for (let index = 0; index < 10; index++) {
        const socket = open(url);
        socket.on("data", (data) => refused.push(/HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? ""));
        socket.write(head);
        sockets.push(socket);
      }
      for (let sent = 0; sent < BODY_MB - 1; sent++) {
        for (const socket of sockets) {
          if (socket.destroyed || socket.closed) continue;
          if (!socket.write(chunk))
            await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), Bun.sleep(300)]);
        }
      }
      await Bun.sleep(300);
      for (const socket of sockets) socket.destroy();
      return `${10 - refused.filter(Boolean).length} held, refused: ${refused.filter(Boolean).join(", ") || "none"}`;
    }),
    measured("S18", "a body of 20 MB of opening brackets", () => post(`${model}${"[".repeat(20 * MB)}`)),
    measured("S18", "a body of ten million tiny values", () => post(`${model}[${"1,".repeat(10_000_000)}1]}`)),
    ...[100_000, 300_000].map((count) =>
      measured("S19", `a body of ${count} tiny messages to the simulator`, async () => {
        const one = '{"role":"user","content":"a"},';
        return post(`{"model":"sim/standard","messages":[${one.repeat(count).slice(0, -1)}]}`);
      }),
    ),
    measured("S18", "a body of 100,000 keys, the first of them twice", async () => {
      const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`);
      return post(`${model}[{"role":"user","content":"a"}],"x":{${keys.join(",")},"k0":2}}`);
    }),
    measured("S17", "a packed body that unpacks to 256 MB", async () => {
      const response = await fetch(url, {
        ...init,
        headers: { ...(init.headers as object), "content-encoding": "gzip" },
        body: gzipSync(Buffer.alloc(256 * MB, " "), { level: 1 }),
      });
      await response.text();
      return String(response.status);
    }),
  ];
}

/** Forms that attack the boundary reader. */
function forms(harness: ProgramHarness, measured: Measured): Cheat[] {
  const send = async (body: string | Buffer) => {
    const response = await fetch(`${harness.url}/api/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "multipart/form-data; boundary=bX" },
      body,
    });
    await response.text();
    return String(response.status);
  };
  const part = (name: string, value: string) =>
    `--bX\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  return [
    measured("S18", "a form of 60 MB of near-boundaries", () => send("\r\n--bX".repeat(10 * MB))),
    measured("S18", "a form of 500,000 fields", () => send(`${part("a", "b").repeat(500_000)}--bX--\r\n`)),
    measured("S18", "a form whose head does not end", () => send(`--bX\r\n${"x: y\r\n".repeat(2_000_000)}`)),
  ];
}

/** Sends for as long as the connection is read. */
function sendWithoutEnd(response: ServerResponse, chunk: Buffer): void {
  const go = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", go);
  go();
}

/** Endless responses, or ones larger than they appear. */
function answers(harness: ProgramHarness, measured: Measured): Cheat[] {
  const bomb = gzipSync(Buffer.alloc(256 * MB, " "), { level: 1 });
  const calls = async (count: number, stream: boolean) => {
    const statuses = await Promise.all(
      Array.from({ length: count }, async () => {
        const response = await callGateway(harness.url, "chat", TEST_KEY, { stream });
        await response.text().catch(() => "");
        return response.status;
      }),
    );
    return statuses.join(", ");
  };
  const chunk = Buffer.alloc(MB, "x");
  return [
    measured("S23", "four packed answers of 256 MB each", () => {
      harness.upstream.play((_request, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb);
      });
      return calls(4, false);
    }),
    measured("S23", "six answers without an end", () => {
      harness.upstream.play((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        sendWithoutEnd(response, chunk);
      });
      return calls(6, false);
    }),
    measured("S23", "six streams of one event without an end", () => {
      harness.upstream.play((_request, response) => {
        startEvents(response);
        response.write("data: ");
        sendWithoutEnd(response, chunk);
      });
      return calls(6, true);
    }),
    measured("S23", "six refusals without an end", () => {
      harness.upstream.play((_request, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        sendWithoutEnd(response, chunk);
      });
      return calls(6, false);
    }),
    measured("S23", "six answers whose head has no end", () => {
      harness.upstream.play((_request, response) => {
        const { socket } = response;
        const lines = `x-more: ${"y".repeat(1_000)}\r\n`.repeat(50);
        socket?.write("HTTP/1.1 200 OK\r\n");
        const more = setInterval(() => void socket?.write(lines), 5);
        socket?.on("close", () => clearInterval(more));
      });
      return calls(6, false);
    }),
  ];
}
