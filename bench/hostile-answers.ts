/**
 * How long an upstream can block the gateway. Each hostile answer of `testing/hostile-answers.ts` is sent by a process of its own to
 * clients of every protocol; an interval of 5 ms in the gateway's process measures the longest turn of its event loop.
 *
 * `npm run bench:hostile -- --mb 32 --only "chat/calls" --client chat`
 */
import { parseArgs } from "node:util";
import { startTestGateway } from "../conformance/support/test-gateway.ts";
import type { DialectName } from "../src/canon/dialect-name.ts";
import { buildCall } from "../testing/build-call.ts";
import { HOSTILE_ANSWERS, hostileText } from "../testing/hostile-answers.ts";
import { modelsOfEveryDialect } from "../testing/scripted-models.ts";

const CLIENTS: readonly DialectName[] = ["chat", "messages", "genai", "responses"];
const TICK_MS = 5;

const { values } = parseArgs({
  options: {
    mb: { type: "string", default: "32" },
    only: { type: "string" },
    client: { type: "string" },
    slow: { type: "string", default: "0" },
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
  let text = "";
  let stream = true;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      if (new URL(request.url).pathname !== "/run")
        return new Response(text, { headers: { "content-type": stream ? "text/event-stream" : "application/json" } });
      const run = (await request.json()) as Run;
      const answer = HOSTILE_ANSWERS[run.index];
      if (answer === undefined) throw new Error("no such answer");
      text = hostileText(answer, run.bytes);
      ({ stream } = answer);
      const options = { stream, model: `test/${answer.upstream}` };
      const response = await fetch(...buildCall(run.url, run.client, run.key, options));
      let bytes = 0;
      let last = "";
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        last = (last + Buffer.from(chunk).toString("latin1").slice(-600)).slice(-600);
      }
      const error = /"message":\s?"([^"]{1,120})/.exec(last)?.[1] ?? "";
      return Response.json({ status: response.status, bytes, error } satisfies Outcome);
    },
  });
  console.log(server.port);
}

async function measure(): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--upstream"], { stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const upstream = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
  const gateway = await startTestGateway({
    config: modelsOfEveryDialect(upstream, { first_byte: 120_000, idle: 120_000 }),
  });
  const bytes = Number(values.mb) * 1024 * 1024;
  for (const [index, { name, upstream: from, stream }] of HOSTILE_ANSWERS.entries()) {
    const title = `${from}/${name}`;
    if (values.only !== undefined && !title.includes(values.only)) continue;
    for (const client of CLIENTS) {
      if (values.client !== undefined && values.client !== client) continue;
      Bun.gc(true);
      let longest = 0;
      let longestCpu = 0;
      let last = performance.now();
      let lastCpu = process.threadCpuUsage();
      const timer = setInterval(() => {
        const now = performance.now();
        const { user, system } = process.threadCpuUsage(lastCpu);
        longest = Math.max(longest, now - last - TICK_MS);
        longestCpu = Math.max(longestCpu, (user + system) / 1000);
        last = now;
        lastCpu = process.threadCpuUsage();
      }, TICK_MS);
      const startedMs = performance.now();
      const before = process.cpuUsage();
      const response = await fetch(`${upstream}/run`, {
        method: "POST",
        body: JSON.stringify({ index, client, bytes, url: gateway.url, key: gateway.key } satisfies Run),
      });
      const { status, bytes: got, error } = (await response.json()) as Outcome;
      const { user, system } = process.cpuUsage(before);
      clearInterval(timer);
      if (longestCpu < Number(values.slow)) continue;
      const cells = [
        title.padEnd(40),
        client.padEnd(9),
        `turn ${longestCpu.toFixed(0)} ms cpu, ${longest.toFixed(0)} ms`.padStart(26),
        `cpu ${((user + system) / 1e6).toFixed(2)} s`.padStart(12),
        `${((performance.now() - startedMs) / 1000).toFixed(1)} s`.padStart(7),
        `${(process.memoryUsage.rss() / 1024 / 1024).toFixed(0)} MB`.padStart(8),
        `${status} ${stream ? "stream" : "whole"} ${(got / 1024 / 1024).toFixed(1)} MB`,
        error,
      ];
      console.log(cells.join(" "));
    }
  }
  await gateway.stop();
  child.kill();
}

if (values.upstream) serveUpstream();
else await measure();
