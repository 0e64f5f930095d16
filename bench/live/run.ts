/**
 * `npm run bench:live`: idle and talking sessions of Realtime at the gateway and at a bare WebSocket proxy, one after the other, with
 * the same host. Prints the memory of a session, the processor time of a second of audio, and the time of a frame there and back.
 *
 * Options: --idle N (default 2000), --talking N (default 500), --seconds N of talk (default 20), --frame MS of audio in each frame
 * (default 100).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { TRIVIUM } from "../../conformance/support/program.ts";
import { freePort } from "../../testing/free-port.ts";
import { liveModels, realtime } from "../../testing/live/live-hosts.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { cpuSeconds, residentMegabytes } from "../proc.ts";
import { quantile } from "../statistics.ts";

const { values } = parseArgs({
  options: {
    idle: { type: "string", default: "2000" },
    talking: { type: "string", default: "500" },
    seconds: { type: "string", default: "20" },
    frame: { type: "string", default: "100" },
  },
});
const [idle, talking, seconds, frameMs] = [values.idle, values.talking, values.seconds, values.frame].map(Number) as [
  number,
  number,
  number,
  number,
];

interface Measured {
  kilobytesPerSession: number;
  /** Of the processor, for each second of audio both ways. */
  msPerSecondOfAudio: number;
  p50Ms: number;
  p99Ms: number;
  frames: number;
}

/** Starts a child that prints its port. */
async function startChild(name: string, ...more: string[]): Promise<{ pid: number; port: number; stop: () => void }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, name), ...more], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return { pid: child.pid, port: Number(new TextDecoder().decode(value)), stop: () => child.kill() };
}

/** A session, open when its host has said so. */
async function openSession(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${TEST_KEY}` } });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.onmessage = () => resolve();
  socket.onerror = (event) => reject(new Error((event as ErrorEvent).message));
  await promise;
  return socket;
}

async function openSessions(url: string, count: number): Promise<WebSocket[]> {
  const sessions: WebSocket[] = [];
  while (sessions.length < count) {
    const batch = Math.min(50, count - sessions.length);
    sessions.push(...(await Promise.all(Array.from({ length: batch }, () => openSession(url)))));
  }
  return sessions;
}

/** Each session sends a frame at a time, at the pace of speech, and gets it back. */
async function talk(sessions: readonly WebSocket[]): Promise<number[]> {
  const delays: number[] = [];
  const { audio } = realtime.speech(frameMs / 1000);
  const frame = JSON.stringify({ type: "input_audio_buffer.append", audio });
  const rounds = Math.floor((seconds * 1000) / frameMs);
  const speak = async (socket: WebSocket, index: number): Promise<void> => {
    let sentMs = 0;
    socket.onmessage = ({ data }) => {
      if (String(data).includes("audio.delta")) delays.push(performance.now() - sentMs);
    };
    const startedMs = performance.now() + (frameMs * index) / sessions.length;
    for (let round = 0; round < rounds; round++) {
      await Bun.sleep(Math.max(0, startedMs + round * frameMs - performance.now()));
      sentMs = performance.now();
      socket.send(frame);
    }
  };
  for (const socket of sessions) socket.send('{"type":"response.create"}');
  await Bun.sleep(1_000);
  await Promise.all(sessions.map(speak));
  await Bun.sleep(1_000);
  return delays;
}

async function measure(pid: number, url: string): Promise<Measured> {
  const warm = await openSessions(url, 50);
  await talk(warm.slice(0, 10));
  for (const socket of warm) socket.close();
  await Bun.sleep(2_000);
  const before = residentMegabytes([pid]);
  const sessions = await openSessions(url, idle);
  await Bun.sleep(2_000);
  const kilobytesPerSession = ((residentMegabytes([pid]) - before) * 1024) / idle;
  const cpuBefore = cpuSeconds([pid]);
  const delays = await talk(sessions.slice(0, talking));
  const cpu = cpuSeconds([pid]) - cpuBefore;
  for (const socket of sessions) socket.close();
  await Bun.sleep(1_000);
  return {
    kilobytesPerSession,
    msPerSecondOfAudio: (cpu * 1000) / (talking * seconds),
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    frames: delays.length,
  };
}

const host = await startChild("host.child.ts");
const proxy = await startChild("proxy.child.ts", String(host.port));
const folder = mkdtempSync(join(tmpdir(), "trivium-bench-live-"));
const port = freePort();
writeFileSync(
  join(folder, "trivium.yaml"),
  JSON.stringify({
    ...liveModels(`http://127.0.0.1:${host.port}`),
    server: { port },
    admin: { port: freePort(), secret: "bench-admin-secret-0123456789" },
    simulator: false,
    log: { calls: "off" },
    live: { sessions_per_key: 100_000 },
    keys: [{ name: "bench", key: TEST_KEY }],
  }),
);
const gateway = Bun.spawn([TRIVIUM, "serve", "--workers", "1"], { cwd: folder, stdout: "ignore", stderr: "inherit" });
try {
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
  for (const endMs = Date.now() + 30_000; !(await isReady()) && Date.now() < endMs; ) await Bun.sleep(100);
  const bare = await measure(proxy.pid, `ws://127.0.0.1:${proxy.port}/`);
  const own = await measure(gateway.pid, `ws://127.0.0.1:${port}/v1/realtime?model=test/realtime`);
  const row = (name: string, { kilobytesPerSession, msPerSecondOfAudio, p50Ms, p99Ms, frames }: Measured) =>
    `${name.padEnd(8)} ${kilobytesPerSession.toFixed(1).padStart(8)} KB  ${msPerSecondOfAudio.toFixed(3).padStart(8)} ms  ${p50Ms.toFixed(2).padStart(7)} ms  ${p99Ms.toFixed(2).padStart(7)} ms  ${frames} frames`;
  console.log(`${idle} sessions, ${talking} of them talk for ${seconds} s in frames of ${frameMs} ms`);
  console.log("            memory   CPU per s of audio   p50       p99");
  console.log(row("bare", bare));
  console.log(row("gateway", own));
  console.log(
    `CPU ${(own.msPerSecondOfAudio / bare.msPerSecondOfAudio).toFixed(2)} times bare; p99 ${(own.p99Ms - bare.p99Ms).toFixed(2)} ms over bare`,
  );
} finally {
  gateway.kill();
  proxy.stop();
  host.stop();
  rmSync(folder, { recursive: true });
}
