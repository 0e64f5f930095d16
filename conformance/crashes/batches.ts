/**
 * `npm run crashes:batches`: a gateway that runs a batch is killed with SIGKILL at random moments, again and again. In the end every
 * line has one result and one receipt, and the sums of the batch and of the ledger are equal.
 *
 * Options: --store sqlite|postgres (default sqlite), --kills N (default 20), --lines N (default 400), --seed N.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { system } from "../../src/base/system.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { freePort } from "../../testing/free-port.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import { CrashingGateway } from "./crashing-gateway.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    kills: { type: "string", default: "20" },
    lines: { type: "string", default: "400" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const [kills, lines] = [Number(values.kills), Number(values.lines)];
let state = Number(values.seed);
const draw = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};

const folder = mkdtempSync(join(tmpdir(), "trivium-batch-crashes-"));
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
if (values.store === "postgres" && postgres === undefined)
  throw new Error("There is no PostgreSQL that can be started.");
mkdirSync(join(folder, "data"));
const storageUrl = postgres?.url ?? `sqlite:${join(folder, "data", "trivium.db")}`;

let asked = 0;
const provider = Bun.serve({
  port: 0,
  fetch: async (request) => {
    asked++;
    const { messages } = (await request.json()) as { messages: { content: string }[] };
    await Bun.sleep(5 + draw(30));
    return Response.json(
      plainAnswer("chat", { text: `seen ${messages[0]?.content}`, usage: plainUsage("chat", 10, 10) }),
    );
  },
});

const gateway = new CrashingGateway({
  folder,
  workers: 0,
  config: {
    server: { port: freePort() },
    admin: { port: freePort(), secret: TEST_ADMIN_SECRET },
    storage: storageUrl,
    simulator: false,
    log: { calls: "off" },
    ...scriptedModels(`http://127.0.0.1:${provider.port}`),
  },
});
const authorization = `Bearer ${TEST_KEY}`;

async function createBatch(): Promise<string> {
  const line = (index: number) => ({
    custom_id: `line-${index}`,
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "test/chat", messages: [{ role: "user", content: `line-${index}.` }] },
  });
  const form = new FormData();
  const input = Array.from({ length: lines }, (_, index) => JSON.stringify(line(index))).join("\n");
  form.append("file", new Blob([input]), "in.jsonl");
  form.append("purpose", "batch");
  const uploaded = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers: { authorization }, body: form });
  const { id } = (await uploaded.json()) as { id: string };
  const made = await fetch(`${gateway.url}/v1/batches`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" }),
  });
  return ((await made.json()) as { id: string }).id;
}

interface ShownBatch {
  status: string;
  output_file_id?: string;
  error_file_id?: string;
  request_counts: { total: number; completed: number; failed: number };
}

const show = async (id: string): Promise<ShownBatch> =>
  (await (await fetch(`${gateway.url}/v1/batches/${id}`, { headers: { authorization } })).json()) as ShownBatch;

const problems: string[] = [];
const expectEqual = (what: string, found: unknown, expected: unknown) => {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    problems.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
};

let killed = 0;
try {
  await gateway.start();
  const id = await createBatch();
  for (; killed < kills; killed++) {
    const before = (await show(id)).request_counts.completed;
    if (before >= lines) break;
    const until = Math.min(lines - 1, before + 1 + draw(Math.max(1, Math.floor((2 * lines) / kills))));
    for (;;) {
      const { request_counts, status } = await show(id);
      if (request_counts.completed >= until || status === "completed") break;
      await Bun.sleep(2);
    }
    await Bun.sleep(draw(20));
    await gateway.kill();
    await gateway.start();
  }
  let batch = await show(id);
  for (; !["completed", "failed"].includes(batch.status); batch = await show(id)) await Bun.sleep(50);
  expectEqual("the state", batch.status, "completed");
  expectEqual("the counts", batch.request_counts, { total: lines, completed: lines, failed: 0 });
  const output = await fetch(`${gateway.url}/v1/files/${batch.output_file_id}/content`, { headers: { authorization } });
  const results = (await output.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { custom_id: string; response: { body: unknown } });
  const names = Array.from({ length: lines }, (_, index) => `line-${index}`);
  expectEqual(
    "the results",
    results.map(({ custom_id }) => custom_id),
    names,
  );
  const wrong = results.filter((one) => !JSON.stringify(one.response.body).includes(`seen ${one.custom_id}.`));
  expectEqual("results of other lines", wrong.length, 0);
  await gateway.stop();
  const storage = await openStorage(storageUrl, system.clock);
  const receipts = await storage.query("SELECT id, cost_nano_usd FROM receipts");
  const stored = await storage.query("SELECT receipt_id, cost_nano_usd FROM batch_lines");
  const ids = (rows: typeof receipts, column: string) => rows.map((row) => text(row, column)).sort();
  expectEqual("the receipts", ids(receipts, "id"), ids(stored, "receipt_id"));
  const sum = (rows: typeof receipts) => rows.reduce((all, row) => all + number(row, "cost_nano_usd"), 0);
  expectEqual("the sums", sum(receipts), sum(stored));
  await storage.close();
} finally {
  await gateway.stop();
  await provider.stop(true);
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
const extra = asked - lines;
console.log(
  `${values.store}, seed ${values.seed}: ${lines} lines, ${killed} kills, ${extra} requests whose responses a kill lost`,
);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "all is well: one result and one receipt for each line" : "not as it should be");
process.exitCode = problems.length === 0 ? 0 : 1;
