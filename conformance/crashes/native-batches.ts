/**
 * `npm run crashes:native-batches`: a gateway whose batch runs at a provider's batch API is killed with SIGKILL: first when the provider
 * has created the batch and not said so yet, then while its results are read. In the end the batch was created once, every line has one
 * result and one receipt, and the sums are equal.
 *
 * Options: --store sqlite|postgres (default sqlite), --vendor openai|anthropic|gemini (default openai), --kills N (default 3),
 * --lines N (default 200), --seed N.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { BatchClients, LIST_NANO_USD, nativeModels, startBatchHost } from "../support/native-batches.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { CrashingGateway } from "./crashing-gateway.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    vendor: { type: "string", default: "openai" },
    kills: { type: "string", default: "3" },
    lines: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const [kills, lines] = [Number(values.kills), Number(values.lines)];
const model = { openai: "test/chat", anthropic: "test/messages", gemini: "test/genai" }[values.vendor] ?? "test/chat";
let state = Number(values.seed);
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const folder = mkdtempSync(join(tmpdir(), "trivium-native-crashes-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
mkdirSync(join(folder, "data"));
const storageUrl = postgres?.url ?? `sqlite:${join(folder, "data", "trivium.db")}`;
const host = await startBatchHost();
const gateway = new CrashingGateway({
  folder,
  workers: 0,
  config: {
    server: { port: freePort() },
    admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
    storage: storageUrl,
    simulator: false,
    log: { calls: "off" },
    ...nativeModels(host.url),
  },
});
const clients = new BatchClients(gateway, TEST_KEY);

const problems: string[] = [];
const expectEqual = (what: string, found: unknown, expected: unknown) => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    problems.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};

let killed = 0;
const crash = async () => {
  killed++;
  await gateway.kill();
};

try {
  await gateway.start();
  host.faults.slowResultsMs = 5;
  const { promise: created, resolve } = Promise.withResolvers<void>();
  host.onCreation = async () => {
    host.onCreation = async () => {};
    if (kills > 0) await crash();
    resolve();
  };
  const names = Array.from({ length: lines }, (_, index) => `line-${index}`);
  const id = await clients.create(
    "chat",
    names.map((name) => ({ id: name, model, content: `say-${name.slice(5)}` })),
  );
  await created;
  if (!gateway.isRunning) await gateway.start();
  for (; killed < kills; ) {
    const before = (await clients.openai.batches.retrieve(id)).request_counts?.completed ?? 0;
    const until = Math.min(lines - 1, before + 1 + draw(Math.max(1, Math.floor(lines / kills))));
    for (;;) {
      const batch = await clients.openai.batches.retrieve(id);
      if ((batch.request_counts?.completed ?? 0) >= until || batch.status === "completed") break;
      await Bun.sleep(2);
    }
    if ((await clients.openai.batches.retrieve(id)).status === "completed") break;
    await crash();
    await gateway.start();
  }
  const outcome = await clients.wait("chat", id);
  expectEqual("the state", outcome.state, "completed");
  expectEqual(
    "the results",
    outcome.lines.map((line) => line.id),
    names,
  );
  const wrong = outcome.lines.filter((line) => !line.text.includes(`heard say-${line.id.slice(5)}"`));
  expectEqual("results of other lines", wrong.length, 0);
  expectEqual("the creations", host.counts.creations, 1);
  expectEqual("the calls", host.counts.calls, 0);
  await gateway.stop();
  const storage = await openStorage(storageUrl, system.clock);
  const receipts = await storage.query("SELECT id, cost_nano_usd FROM receipts");
  const stored = await storage.query("SELECT receipt_id, cost_nano_usd FROM batch_lines");
  const ids = (rows: typeof receipts, column: string) => rows.map((row) => text(row, column)).sort();
  expectEqual("the receipts", ids(receipts, "id"), ids(stored, "receipt_id"));
  const sum = (rows: typeof receipts) => rows.reduce((all, row) => all + number(row, "cost_nano_usd"), 0);
  expectEqual("the sums", [sum(receipts), sum(stored)], [(lines * LIST_NANO_USD) / 2, (lines * LIST_NANO_USD) / 2]);
  await storage.close();
} finally {
  await gateway.stop();
  await host.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${values.store}, ${values.vendor}, seed ${values.seed}: ${lines} lines, ${killed} kills`);
for (const problem of problems) console.error(problem);
console.log(
  problems.length === 0 ? "all is well: one batch, one result and one receipt for each line" : "not as it should be",
);
process.exitCode = problems.length === 0 ? 0 : 1;
