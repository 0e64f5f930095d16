import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { programsPresent } from "../testing/is-present.ts";
import { startRedis } from "../testing/redis.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { nginxPresent, startNginx, type TestNginx } from "./support/nginx.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";

const isPossible = nginxPresent("rolling restart") && programsPresent("rolling restart", "redis-server");
const redis = isPossible ? await startRedis() : undefined;
const folder = mkdtempSync(join(tmpdir(), "trivium-rolling-"));

interface Instance {
  name: string;
  url: string;
  program: Bun.Subprocess;
}

async function startInstance(name: string, port: number, adminPort: number): Promise<Instance> {
  const place = join(folder, name);
  await Bun.write(join(place, "said"), "");
  const config = {
    server: { host: "127.0.0.1", port, drain_delay_seconds: 2, drain_seconds: 20 },
    admin: { host: "127.0.0.1", port: adminPort },
    storage: `sqlite:${join(folder, "trivium.db")}`,
    redis: redis?.url,
    data_dir: place,
    files: join(folder, "files"),
    simulator: true,
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY }],
  };
  writeFileSync(join(place, "trivium.yaml"), JSON.stringify(config));
  const program = Bun.spawn([TRIVIUM, "serve", "--workers", "1"], {
    cwd: place,
    env: bareEnvironment(),
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(join(place, "said")),
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(`${name} to be ready`, async () => {
    if (program.exitCode !== null) throw new Error(`${name}: ${await Bun.file(join(place, "said")).text()}`);
    return fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return { name, url, program };
}

let instances: Instance[] = [];
let nginx: TestNginx | undefined;
const ports: [number, number][] = [];
beforeAll(async () => {
  if (!isPossible) return;
  for (const name of ["one", "two"]) {
    const [port, adminPort] = [freePort(), freePort()];
    ports.push([port, adminPort]);
    instances.push(await startInstance(name, port, adminPort));
  }
  nginx = await startNginx(instances.map(({ url }) => url));
}, 180_000);
afterAll(async () => {
  await nginx?.stop();
  for (const { program } of instances) {
    program.kill("SIGKILL");
    await program.exited;
  }
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One call, streamed or not; returns what went wrong, or undefined. */
async function call(stream: boolean): Promise<string | undefined> {
  try {
    const answer = await fetch(`${nginx?.url}/v1/chat/completions`, {
      method: "POST",
      // nginx closes client connections when it reloads, which no gateway can prevent.
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json", connection: "close" },
      keepalive: false,
      body: JSON.stringify({
        model: "sim/standard",
        stream,
        messages: [{ role: "user", content: "Tell me a story of some length, with a beginning and an end." }],
      }),
    });
    const text = await answer.text();
    if (answer.status !== 200) return `${answer.status} ${text.slice(0, 200)}`;
    if (stream && !text.trimEnd().endsWith("[DONE]")) return `a stream without its end: ${text.slice(-200)}`;
    return text.includes('"error"') ? text.slice(-200) : undefined;
  } catch (error) {
    return String(error);
  }
}

/** Pause between two calls of a client: this looks for a call lost at some moment, not for throughput. */
const PAUSE_MS = 100;

test.skipIf(!isPossible)("a rolling restart of two instances behind nginx, under load: no call fails", async () => {
  const failures: string[] = [];
  let calls = 0;
  let isOver = false;
  const clients = Array.from({ length: 12 }, async (_, client) => {
    while (!isOver) {
      const failure = await call(client % 2 === 0);
      calls++;
      if (failure !== undefined) failures.push(failure);
      await Bun.sleep(PAUSE_MS);
    }
  });
  await Bun.sleep(500);
  for (const [at, instance] of instances.entries()) {
    await nginx?.leaveOut([instance.url]);
    instance.program.kill("SIGTERM");
    expect(await instance.program.exited).toBe(0);
    const [port = 0, adminPort = 0] = ports[at] ?? [];
    instances = instances.with(at, await startInstance(instance.name, port, adminPort));
    await nginx?.leaveOut([]);
    await Bun.sleep(1_000);
  }
  isOver = true;
  await Promise.all(clients);
  console.log(`rolling restart of two instances behind nginx: ${calls} calls, ${failures.length} failed`);
  expect(failures).toEqual([]);
  expect(calls).toBeGreaterThan(50);
});
