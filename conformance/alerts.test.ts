import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { PRICED } from "./support/priced-model.ts";
import { bareEnvironment, runProgram, TRIVIUM } from "./support/program.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-alerts-"));
const ADMIN_SECRET = "an-admin-secret-of-the-alerts-test";
const HOOK_SECRET = "a-secret-of-the-receiver";

interface Received {
  id: string;
  type: string;
  body: string;
}

const received: Received[] = [];
let status = 200;
let receiver: ReturnType<typeof Bun.serve>;
let program: Bun.Subprocess | undefined;
let adminPort = 0;

beforeAll(async () => {
  adminPort = freePort();
  receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const body = await request.text();
      const { id, type } = JSON.parse(body) as Received;
      received.push({ id, type, body });
      return new Response("noted", { status });
    },
  });
});
afterAll(async () => {
  program?.kill("SIGKILL");
  await program?.exited;
  await receiver.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

function configure(alerts: object | undefined): void {
  const config = {
    server: { host: "127.0.0.1", port: 0, drain_seconds: 1 },
    admin: { host: "127.0.0.1", port: adminPort, secret: ADMIN_SECRET },
    simulator: true,
    models: [PRICED],
    log: { calls: "off" },
    keys: [{ name: "tests", key: TEST_KEY, limits: { budget_usd_total: 0.000_1 } }],
    alerts,
  };
  writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
}

async function start(): Promise<string> {
  const child = Bun.spawn([TRIVIUM, "serve", "--workers", "1", "--json"], {
    cwd: folder,
    env: bareEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(join(folder, "stderr.log")),
  });
  program = child;
  let shown = "";
  for await (const chunk of child.stdout) {
    shown += new TextDecoder().decode(chunk);
    if (shown.trimEnd().endsWith("\n}")) break;
  }
  if (shown === "") throw new Error(`serve has ended: ${readFileSync(join(folder, "stderr.log"), "utf8")}`);
  return (JSON.parse(shown) as { url: string }).url;
}

async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  program?.kill(signal);
  await program?.exited;
}

const command = (...args: string[]) =>
  runProgram(["alerts", ...args, "--url", `http://127.0.0.1:${adminPort}`, "--secret", ADMIN_SECRET], { cwd: folder });

interface Listed {
  id: string;
  type: string;
  deliveries: { state: string; tries: number }[];
}

const listed = async () => JSON.parse((await command("list", "--json")).stdout) as Listed[];

test("a budget alert is sent once, with one id, despite kill -9, a failing receiver and restarts; a reload enables it", async () => {
  configure(undefined);
  const url = await start();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "acme/priced", messages: [{ role: "user", content: "hi" }], max_tokens: 5 }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  expect((await command("test")).stderr).toContain("alerts.webhooks");

  configure({ webhooks: [{ name: "hook", url: `http://127.0.0.1:${receiver.port}/`, secret: HOOK_SECRET }] });
  program?.kill("SIGHUP");
  await eventually("the gateway to send it", async () => (await command("test")).code === 0);
  expect(received.at(-1)?.type).toBe("test");
  status = 500;
  const failed = await command("test", "hook");
  expect([failed.code, failed.stdout.includes("answered 500"), failed.stdout.includes("noted")]).toEqual([
    1,
    true,
    true,
  ]);
  received.length = 0;

  await end("SIGKILL");
  await start();
  await eventually("the gateway to send it", () => received.length > 0);
  await end("SIGKILL");
  status = 200;
  await start();
  await eventually("the gateway to send it", async () => (await listed())[0]?.deliveries[0]?.state === "delivered");
  expect(new Set(received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(received[0]?.body).not.toContain(TEST_KEY);

  const count = received.length;
  await end("SIGTERM");
  await start();
  const told = await listed();
  expect(told.map(({ type }) => type)).toEqual(["budget.threshold"]);
  expect(received.length).toBe(count);

  const id = told[0]?.id ?? "";
  const taken = await command("deliver", id);
  expect([taken.code, taken.stderr.includes("Name one to send it again")]).toEqual([1, true]);
  expect((await command("deliver", id, "hook")).stdout).toContain(`Redelivering ${id}: hook `);
  await eventually("the gateway to send it", () => received.length === count + 1);
  expect(received.at(-1)).toMatchObject({ id, body: received[0]?.body });
  await end("SIGTERM");
}, 240_000);
