/**
 * What a hostile upstream costs the gateway. Each answer of `testing/hostile-answers.ts` is sent by a process of its own to clients
 * of every protocol; an interval of 5 ms in the gateway's process measures the longest turn of its event loop.
 *
 * `bin/bun bench/hostile-answers.ts --mb 2,8,32 --only "chat/calls" --client chat --slow 50`
 *
 * `--media`: the models make images, so that their events and answers may be larger. `--slow`: rows with a turn of at least so
 * many milliseconds of CPU alone.
 */
import { parseArgs } from "node:util";
import { startTestGateway } from "../conformance/support/test-gateway.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import { buildCall } from "../testing/build-call.ts";
import { HOSTILE_ANSWERS, hostileBytes, hostileModels, hostileType } from "../testing/hostile-answers.ts";

const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];
const TICK_MS = 5;
const MB = 1024 * 1024;
/** Whatever takes longer is reported as such. */
const MOST_MS = 60_000;

const { values } = parseArgs({
  options: {
    mb: { type: "string", default: "2,8,32" },
    only: { type: "string" },
    client: { type: "string" },
    slow: { type: "string", default: "0" },
    media: { type: "boolean", default: false },
    upstream: { type: "boolean", default: false },
  },
});

interface Run {
  index: number;
  client: DialectName;
  bytes: number;
  url: string;
  key: string;
}

interface Outcome {
  status: number;
  bytes: number;
  error: string;
}

/** The child: plays the upstream and its client, so that neither takes a turn of the gateway's event loop. */
function serveUpstream(): void {
  let bytes = new Uint8Array(0);
  let type = "";
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname !== "/run") return new Response(bytes, { headers: { "content-type": type } });
      const run = (await request.json()) as Run;
      const answer = HOSTILE_ANSWERS[run.index];
      if (answer === undefined) throw new Error("unknown response");
      bytes = new Uint8Array(hostileBytes(answer, run.bytes));
      type = hostileType(answer);
      return Response.json(await play(run, answer.stream, answer.host));
    },
  });
  console.log(server.port);
}

async function play({ url, client, key }: Run, stream: boolean, host: string): Promise<Outcome> {
  const signal = AbortSignal.timeout(MOST_MS);
  try {
    const response = await fetch(...buildCall(url, client, key, { stream, model: `test/${host}`, signal }));
    let bytes = 0;
    let last = "";
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      last = (last + Buffer.from(chunk).toString("latin1").slice(-600)).slice(-600);
    }
    return { status: response.status, bytes, error: /"message":\s?"([^"]{1,120})/.exec(last)?.[1] ?? "" };
  } catch (thrown) {
    return { status: 0, bytes: 0, error: thrown instanceof Error ? thrown.message : "" };
  }
}

interface Measured extends Outcome {
  cpuMs: number;
  wallMs: number;
  /** The longest turn, in CPU time of its thread and by the clock. */
  turnCpuMs: number;
  turnMs: number;
}

/** Plays one run and watches the event loop meanwhile. */
async function measureRun(upstream: string, run: Run): Promise<Measured> {
  Bun.gc(true);
  let turnMs = 0;
  let turnCpuMs = 0;
  let last = performance.now();
  let lastCpu = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(lastCpu);
    turnMs = Math.max(turnMs, now - last - TICK_MS);
    turnCpuMs = Math.max(turnCpuMs, (user + system) / 1000);
    last = now;
    lastCpu = process.threadCpuUsage();
  }, TICK_MS);
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const response = await fetch(`${upstream}/run`, { method: "POST", body: JSON.stringify(run) });
  const outcome = (await response.json()) as Outcome;
  const { user, system } = process.cpuUsage(before);
  clearInterval(timer);
  return { ...outcome, cpuMs: (user + system) / 1000, wallMs: performance.now() - startedMs, turnCpuMs, turnMs };
}

function modelsAt(upstream: string): Record<string, unknown> {
  const config = hostileModels(upstream, { first_byte: MOST_MS, idle: MOST_MS });
  if (!values.media) return config;
  const models = (config["models"] as object[]).map((model) => ({ ...model, output_modalities: ["text", "image"] }));
  return { ...config, models };
}

async function measure(): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--upstream"], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const upstream = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
  const gateway = await startTestGateway({ config: modelsAt(upstream) });
  const sizes = values.mb.split(",").map(Number);
  for (const [index, { name, host, stream }] of HOSTILE_ANSWERS.entries()) {
    const title = `${host}/${name}`;
    if (values.only !== undefined && !title.includes(values.only)) continue;
    for (const client of CLIENTS) {
      if (values.client !== undefined && values.client !== client) continue;
      for (const mb of sizes) {
        const run = { index, client, bytes: mb * MB, url: gateway.url, key: gateway.key };
        const { status, bytes, error, cpuMs, wallMs, turnCpuMs, turnMs } = await measureRun(upstream, run);
        if (turnCpuMs < Number(values.slow)) continue;
        const cells = [
          title.padEnd(46),
          client.padEnd(9),
          `${mb} MB`.padStart(5),
          `turn ${turnCpuMs.toFixed(0)} ms cpu, ${turnMs.toFixed(0)} ms`.padStart(26),
          `cpu ${(cpuMs / mb).toFixed(1)} ms/MB`.padStart(18),
          `${(wallMs / 1000).toFixed(1)} s`.padStart(7),
          `${(process.memoryUsage.rss() / MB).toFixed(0)} MB`.padStart(8),
          `${status} ${stream ? "stream" : "whole"} ${(bytes / MB).toFixed(1)} MB`,
          error,
        ];
        console.log(cells.join(" "));
      }
    }
  }
  await gateway.stop();
  child.kill();
}

if (values.upstream) serveUpstream();
else await measure();
