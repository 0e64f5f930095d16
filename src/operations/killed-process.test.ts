import { describe, expect, test } from "bun:test";
import { type Machine, makeMachine } from "../../testing/harness.ts";
import { type AskedVideo, MemoryVideos, SILENT_NANO_USD } from "../../testing/memory-videos.ts";
import { type Death, MortalProcess } from "../../testing/mortal-process.ts";
import type { Operation } from "../canon/operation.ts";
import { selectOperation } from "../storage/tables/operations.ts";

const COUNT = 2;
const SECONDS = 4;
const STOPPED = "The gateway was stopped while it was submitting this video.";

const asked = (key: string | undefined): AskedVideo => ({
  parameters: { sampleCount: COUNT, durationSeconds: SECONDS },
  ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
});

/** A machine with a gateway that is killed, and the gateway that takes over. */
interface Life {
  machine: Machine;
  process: MortalProcess;
  doomed: MemoryVideos;
  /** Runs in parallel with the killed one, or is started after it. */
  survivor: () => Promise<MemoryVideos>;
}

/** Between two polls, so that few steps have nothing to do. */
const POLL_MS = 1_000;
const timings = { mediaPollFactor: POLL_MS / 10_000, operationLeaseMs: 10_000 };

async function begin(beside: boolean): Promise<Life> {
  const machine = await makeMachine();
  const process = new MortalProcess(machine);
  const doomed = await MemoryVideos.start({ machine, within: process, timings });
  doomed.host.takesMs = 1.5 * POLL_MS;
  const start = () => MemoryVideos.start({ machine, host: doomed.host, timings });
  const other = beside ? await start() : undefined;
  return { machine, process, doomed, survivor: async () => other ?? (await start()) };
}

/**
 * Submits, and lets time pass until the gateway is dead or the operation has ended. Returns the name if the client
 * received it.
 */
async function submitUntilDeath({ machine, process, doomed }: Life, key: string | undefined): Promise<string> {
  let name = "";
  void doomed.send(asked(key)).answer.then(({ text }) => {
    name = (JSON.parse(text) as { name: string }).name;
  });
  for (let seconds = 0; seconds < 60 && !process.isDead; seconds++) {
    await machine.clock.pass(1_000);
    if ((await operationsOf(machine)).some(({ endedAtMs }) => endedAtMs !== undefined)) break;
  }
  // The other side of the socket keeps what it has received.
  await machine.clock.pass(0);
  return name;
}

async function operationsOf({ storage }: Machine): Promise<Operation[]> {
  const rows = await storage.query("SELECT id FROM operations ORDER BY created_at_ms");
  const all: Operation[] = [];
  for (const { id } of rows) {
    const operation = await selectOperation(storage, "default", String(id));
    if (operation) all.push(operation);
  }
  return all;
}

/** What a client does: it retries until it has a name, with a new key if the gateway asks for one. */
async function askUntilMade(videos: MemoryVideos, received: string, key: string | undefined) {
  let name = received;
  let current = key;
  for (let attempts = 0; attempts < 5; attempts++) {
    if (name === "") {
      const submitted = await videos.submit(asked(current));
      if (submitted.status === 429) {
        await videos.clock.pass(2_000);
        continue;
      }
      expect(submitted.status).toBe(200);
      name = submitted.name;
    }
    const { error } = await videos.ended(name.split("/").at(-1) ?? "");
    if (!error) return { name, key: current };
    expect(error.message).toStartWith(STOPPED);
    name = "";
    current = current && `${current}-again`;
  }
  throw new Error("the client never got its videos");
}

/**
 * Everything is accounted for: one receipt for each operation, one price for each video, one file, and no unknown job.
 */
async function audit(life: Life, videos: MemoryVideos, name: string): Promise<void> {
  const { machine, doomed } = life;
  const { jobs } = doomed.host;
  for (const { id } of await operationsOf(machine)) await videos.ended(id);
  const operations = await operationsOf(machine);
  const receipts = await videos.harness.receipts();
  expect(receipts.map(({ id }) => id).sort()).toEqual(operations.map(({ receiptId }) => receiptId).sort());
  const files = await videos.rows("SELECT id FROM files");
  const kept = operations.flatMap(({ parts }) => parts.flatMap((part) => part.videos.map(({ file }) => file)));
  for (const file of kept) expect(files.map(({ id }) => id)).toContain(file);
  for (const operation of operations) {
    const made = operation.parts.reduce((sum, part) => sum + part.videos.length, 0);
    const receipt = receipts.find(({ id }) => id === operation.receiptId);
    expect(receipt?.cost_nano_usd).toBe(made * SECONDS * SILENT_NANO_USD);
  }
  // No job is paid twice: a job without an operation was in flight when the gateway died, and is reported.
  const known = operations.flatMap(({ parts }) =>
    parts.flatMap(({ providerJob }) => (providerJob ? [providerJob] : [])),
  );
  const doubtful = operations.flatMap(({ parts }) => parts.filter(({ uncertain }) => uncertain));
  expect(jobs.length - known.length).toBeWithin(0, doubtful.length + 1);
  const mine = await videos.poll(name);
  const lost = mine.metadata?.failures ?? [];
  expect((mine.response?.videos.length ?? 0) + lost.length).toBe(COUNT);
  for (const { message } of lost) expect(message).toStartWith(STOPPED);
}

async function dieAndRecover(death: Death, key: string | undefined, beside: boolean): Promise<boolean> {
  const life = await begin(beside);
  life.process.dieAt(death);
  const received = await submitUntilDeath(life, key);
  const survivor = await life.survivor();
  const made = await askUntilMade(survivor, received, key);
  await audit(life, survivor, made.name);
  if (made.key !== undefined) expect((await survivor.submit(asked(made.key))).name).toBe(made.name);
  return life.process.isDead;
}

const MAX_STEPS = 60;

/** From the operation's row to the last download, until the gateway survives its operation. */
async function dieAtEachStep(key: string | undefined, beside: boolean, when: Death["when"]): Promise<void> {
  let step = 1;
  while (step < MAX_STEPS && (await dieAndRecover({ step, when }, key, beside))) step++;
  // Another gateway in parallel takes some of the steps.
  expect(step).toBeWithin(beside ? 12 : 20, MAX_STEPS);
}

describe("choices 5, H24: a gateway killed before or after any step ends its operation, bills it once and has its videos", () => {
  const cases: [string, string | undefined, boolean, Death["when"]][] = [
    ["before, under a key, and another is started", "a", false, "before"],
    ["after, under a key, and another is started", "a", false, "after"],
    ["after, under a key, next to another", "a", true, "after"],
    ["after, without a key, and another is started", undefined, false, "after"],
  ];
  test.each(cases)("%s", (_, key, beside, when) => dieAtEachStep(key, beside, when), 30_000);
});

test("H24: two gateways on one storage poll each job once at a time, and fetch each video once", async () => {
  const life = await begin(true);
  const name = await submitUntilDeath(life, undefined);
  expect((await life.doomed.stored(name.split("/").at(-1) ?? "")).state).toBe("done");
  expect(life.doomed.host.jobs).toHaveLength(COUNT);
  for (const { fetches, polledAtMs, takenAtMs } of life.doomed.host.jobs) {
    expect(fetches).toBe(1);
    expect(polledAtMs.map((at) => at - takenAtMs)).toEqual([POLL_MS, 2 * POLL_MS]);
  }
});
