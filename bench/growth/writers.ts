/**
 * `bin/bun bench/growth/writers.ts --storage postgres://…`: how many receipts a second PostgreSQL takes from 1, 2 and 4 processes, each
 * with the gateway's own writer and always 256 receipts waiting. Prints what they and the server use.
 *
 * Without `--storage` it starts a server of its own, which does not wait for the disk. `--seconds N` (10) of each, `--keys N` (500).
 */
import { parseArgs } from "node:util";
import { SQL } from "bun";
import { system } from "../../src/base/system.ts";
import { LedgerWriter } from "../../src/ledger/writer.ts";
import { openStorage } from "../../src/storage/open.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { cpuMicroseconds } from "../proc.ts";
import { receiptOf } from "./receipt-of.ts";

const { values } = parseArgs({
  options: {
    storage: { type: "string" },
    seconds: { type: "string", default: "10" },
    keys: { type: "string", default: "500" },
    writer: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const WAITING = 256;
const LONG_MS = 60_000;
/** Numbers of receipts that no other process uses. */
const NUMBERS_EACH = 100_000_000;

/** One process: prints how many receipts it has stored, and its processor time. */
async function write(url: string, writer: number): Promise<void> {
  const storage = await openStorage(url, system.clock, undefined, { connections: 2 });
  // Without a journal, a call that has waited for the store long enough goes on: here, all of them wait.
  const waits = { commitTimeoutMs: LONG_MS, drainMs: LONG_MS };
  const ledger = new LedgerWriter({ storage, clock: system.clock, onProblem: console.error, ...waits });
  let next = (writer + 1) * NUMBERS_EACH + (Date.now() % NUMBERS_EACH);
  let stored = 0;
  const untilMs = performance.now() + seconds * 1000;
  const cpu = process.cpuUsage();
  const keepWriting = async () => {
    while (performance.now() < untilMs) {
      const receipt = receiptOf(next++, Date.now(), Number(values.keys));
      await ledger.write(receipt);
      stored++;
    }
  };
  await Promise.all(Array.from({ length: WAITING }, keepWriting));
  const { user, system: kernel } = process.cpuUsage(cpu);
  console.log(JSON.stringify({ stored, us: user + kernel }));
  await ledger.close();
  await storage.close();
}

async function measure(url: string, writers: number): Promise<void> {
  const sql = new SQL(url, { max: 1 });
  const command = [
    process.execPath,
    import.meta.path,
    "--storage",
    url,
    "--seconds",
    values.seconds,
    "--keys",
    values.keys,
  ];
  const children = Array.from({ length: writers }, (_, writer) =>
    Bun.spawn([...command, "--writer", String(writer)], { stdout: "pipe", stderr: "inherit" }),
  );
  // By then all have connected, and none has ended.
  await Bun.sleep(2_000);
  const rows: { pid: number }[] =
    await sql`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  const pids = rows.map(({ pid }) => pid);
  const before = { us: cpuMicroseconds(pids), ms: performance.now() };
  await Bun.sleep(Math.max(1, seconds - 4) * 1000);
  const share = (cpuMicroseconds(pids) - before.us) / 1000 / (performance.now() - before.ms);
  const told = await Promise.all(children.map(async (child) => JSON.parse(await new Response(child.stdout).text())));
  const stored = told.reduce((sum, one) => sum + one.stored, 0);
  const us = told.reduce((sum, one) => sum + one.us, 0) / stored;
  const rate = stored / seconds;
  console.log(
    `${writers} writers: ${rate.toFixed(0)} receipts/s; CPU per receipt ${us.toFixed(1)} µs in the writers, ${((share * 1e6) / rate).toFixed(1)} µs in the server, ${share.toFixed(2)} processors`,
  );
  await sql.close();
}

if (values.writer !== undefined) await write(values.storage ?? "", Number(values.writer));
else {
  const server = values.storage === undefined ? await startPostgres() : undefined;
  const url = values.storage ?? server?.url;
  if (url === undefined) throw new Error("PostgreSQL must be installed, or --storage name a database");
  await (await openStorage(url, system.clock)).close();
  for (const writers of [1, 2, 4]) await measure(url, writers);
  await server?.stop();
}
