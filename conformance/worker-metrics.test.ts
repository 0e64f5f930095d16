import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { bareEnvironment, childrenOf, TRIVIUM } from "./support/program.ts";
import { type ReadSample, readMetrics, sumOf } from "./support/read-metrics.ts";

const CALLS = 24;
const folder = mkdtempSync(join(tmpdir(), "trivium-worker-metrics-"));
let program: Bun.Subprocess<"ignore", "pipe", "ignore">;
let url = "";
let adminUrl = "";

beforeAll(async () => {
  const config = {
    server: { host: "127.0.0.1", port: 0 },
    admin: { host: "127.0.0.1", port: 0, open_metrics: true },
    data_dir: folder,
    simulator: true,
    keys: [{ name: "tests", key: TEST_KEY }],
  };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
  program = Bun.spawn([TRIVIUM, "serve", "--workers", "2", "--json"], {
    cwd: folder,
    env: bareEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let shown = "";
  const decoder = new TextDecoder();
  for await (const chunk of program.stdout) {
    shown += decoder.decode(chunk, { stream: true });
    if (shown.trimEnd().endsWith("\n}")) break;
  }
  ({ url, admin_url: adminUrl } = JSON.parse(shown) as { url: string; admin_url: string });
  await eventually("all workers", async () => workersIn(await scrape()).length === 2);
});
afterAll(async () => {
  program.kill("SIGTERM");
  await program.exited;
  rmSync(folder, { recursive: true, force: true });
});

/** Each over its own connection: any worker may get it. */
async function scrape(): Promise<ReadSample[]> {
  const answer = await fetch(`${adminUrl}/metrics`, { headers: { connection: "close" }, keepalive: false });
  return readMetrics(await answer.text());
}

const workersIn = (samples: readonly ReadSample[]) =>
  [...new Set(samples.filter(({ name }) => name === "trivium_ready").map(({ labels }) => labels["worker"]))].sort();

describe("decision 0058: one of several workers answers for all", () => {
  test("every scrape shows all workers and all calls, whichever worker gets it", async () => {
    const calls = Array.from({ length: CALLS }, () =>
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ model: "sim/standard", messages: [{ role: "user", content: "hi" }] }),
        keepalive: false,
      }),
    );
    for (const answer of await Promise.all(calls)) {
      expect(answer.status).toBe(200);
      await answer.text();
    }
    for (let times = 0; times < 8; times++) {
      const samples = await scrape();
      expect(workersIn(samples)).toEqual(["1", "2"]);
      expect(sumOf(samples, "trivium_calls_total")).toBe(CALLS);
    }
  });

  test("a worker that replaces another takes its number", async () => {
    const before = await scrape();
    const startOf = (samples: readonly ReadSample[], worker: string) =>
      sumOf(samples, "process_start_time_seconds", { worker });
    const [victim = 0] = childrenOf(program.pid);
    process.kill(victim, "SIGKILL");
    let after = before;
    await eventually("all workers", async () => {
      after = await scrape().catch(() => before);
      const changed = ["1", "2"].filter((worker) => startOf(after, worker) !== startOf(before, worker));
      return workersIn(after).length === 2 && changed.length === 1;
    });
    expect(workersIn(after)).toEqual(["1", "2"]);
  });
});
