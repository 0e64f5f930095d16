import { START_SUMS_MS } from "../src/storage/storage.ts";
import { MODELS } from "./configuration.ts";
import { checkRow } from "./invariants.ts";
import { checkKeptPrices } from "./price-invariants.ts";
import { type CallPlan, SERVICES } from "./scenario.ts";
import { checkServiceRow } from "./service-invariants.ts";
import { checkVideos } from "./video-invariants.ts";
import { isClosed, type World } from "./world.ts";

/**
 * After this long without outside events a gateway has nothing left to wait for: longer than any deadline of a call.
 */
const QUIET_MS = 600_000;
/** A start runs two statements that may take long. If both answers are lost, it exits and is retried. */
const MAX_START_MS = 2 * START_SUMS_MS + QUIET_MS;
/** Longer than any breaker stays open and any provider is paused. */
const MAX_PAUSE_MS = 900_000;
/** Calls at the end of a run, when everything outside is healthy. */
export const RECOVERY_CALLS = 1_000_000_000;
const RECOVERY_SERVICES = 2 * RECOVERY_CALLS;
const MAX_RECOVERY_ROUNDS = 30;
const RECOVERY_PAUSE_MS = 2_000;
const RECOVERY_CALL: Omit<CallPlan, "id" | "model"> = {
  key: "free",
  dialect: "chat",
  door: "contract",
  stream: false,
  words: 2,
  padding: 0,
  tool: false,
  input: 3,
  cached: 0,
  output: 6,
  routing: {},
  reading: {},
  providers: [],
};

/** Once nothing more comes from outside, every call ends and leaves nothing behind. */
export async function comeToRest(world: World): Promise<void> {
  const startedUntilMs = world.clock.nowMs() + MAX_START_MS;
  while (world.clock.nowMs() < startedUntilMs && world.process === undefined) await world.clock.pass(1_000);
  const untilMs = world.clock.nowMs() + QUIET_MS;
  while (world.clock.nowMs() < untilMs && world.isBusy) await world.clock.pass(1_000);
  for (const { book } of world.clients) world.violate("every call ends once", "it never does", book);
  // Work that continues without a client, rows that wait for the store, and counts of refused requests, written every
  // minute.
  await world.clock.pass(90_000);
  const process = world.process;
  if (process === undefined) return world.violate("the simulation itself is sound", "no process runs");
  // A video continues without its client until it is done, and its cost stays reserved.
  const videosUntilMs = world.clock.nowMs() + QUIET_MS;
  while (world.clock.nowMs() < videosUntilMs && process.leftovers()["heldNanoUsd"] !== 0) await world.clock.pass(1_000);
  const left = { ...process.leftovers(), openRequests: openRequests(world) };
  for (const [what, count] of Object.entries(left)) {
    if (count !== 0) world.violate("nothing is left over", `${count} ${what}`);
  }
  // The poller has one timer more or less, depending on whether it is polling or sleeping.
  const timers = process.clock.timers - world.restingTimers;
  if (timers > 1) world.violate("nothing is left over", `${timers} timers`);
}

const openRequests = ({ providers, videoHost, serviceHost }: World): number =>
  providers.open + videoHost.open + serviceHost.open;

/** When everything outside is healthy, every call is answered and every breaker closes. */
export async function recover(world: World): Promise<void> {
  await world.clock.pass(MAX_PAUSE_MS);
  let id = RECOVERY_CALLS;
  const areClosed = () => [...(world.process?.breakers().values() ?? [])].flat().every(isClosed);
  // The credential is chosen at random.
  for (let round = 0; round < 2 || (!areClosed() && round < MAX_RECOVERY_ROUNDS); round++) {
    for (const model of Object.keys(MODELS)) {
      const plan = { ...RECOVERY_CALL, id: id++, model };
      world.call(plan);
      await world.clock.pass(RECOVERY_PAUSE_MS);
      const book = world.books.get(plan.id);
      if (book?.ending !== "whole") world.violate("the gateway recovers", `${book?.ending} ${book?.status}`, book);
    }
  }
  await recoverServices(world);
  for (const [provider, states] of world.process?.breakers() ?? []) {
    if (!states.every(isClosed)) world.violate("breakers open and close", `those of ${provider} are ${states.join()}`);
  }
}

/**
 * Every service answers again. A paused offer is only tried when others fail, which would take many calls, so that is
 * not required.
 */
async function recoverServices(world: World): Promise<void> {
  let id = RECOVERY_SERVICES;
  for (const service of SERVICES) {
    const plan = { id: id++, key: "free", service, size: 3, stream: false, routing: {}, reading: {}, providers: [] };
    world.service(plan);
    await world.clock.pass(RECOVERY_PAUSE_MS);
    const book = world.services.get(plan.id);
    if (book?.ending !== "whole") world.violate("the gateway recovers", `${book?.ending} ${book?.status}`, book);
  }
}

/** Stored responses are available to those who may read them, and only to them. */
export async function checkKept(world: World): Promise<void> {
  const { process, clock, kept } = world;
  const pending = await clock.until(world.storage.query("SELECT id FROM answers WHERE state = 'pending'"));
  if (pending.length > 0) world.violate("every background response ends", `${pending.length} do not`);
  if (process !== undefined) await kept.check(process, clock, (rule, what, book) => world.violate(rule, what, book));
}

/** Every row belongs to a call and is right, and every response has one. */
export async function checkLedger(world: World): Promise<void> {
  const query = (text: string) => world.clock.until(world.storage.query(text));
  const operations = await query("SELECT * FROM operations ORDER BY id");
  const videoRows = await query("SELECT * FROM receipts WHERE verb = 'videos' ORDER BY id");
  checkVideos(operations, videoRows, world.videos, (rule, what) => world.violate(rule, what));
  const rows = await query("SELECT * FROM receipts WHERE verb <> 'videos' ORDER BY id");
  const kept = await query("SELECT * FROM prices");
  checkKeptPrices([...rows, ...videoRows], kept, (rule, what) => world.violate(rule, what));
  const found = new Set<number>();
  for (const row of rows) {
    const id = world.settled.get(String(row["id"]));
    const book = world.books.get(id ?? Number.NaN);
    const service = world.services.get(id ?? Number.NaN);
    if (book !== undefined) checkRow(row, book, (rule, what) => world.violate(rule, what, book));
    else if (service !== undefined) checkServiceRow(row, service, (rule, what) => world.violate(rule, what, service));
    else world.violate("a row matches its call", `${String(row["id"])} belongs to no call`);
    if (id !== undefined) found.add(id);
  }
  for (const [id, book] of [...world.books, ...world.services]) {
    // A response that was read to its end is in the ledger, whatever was killed since.
    const isLost = book.process !== world.process?.number && book.ending !== "whole";
    if (found.has(id) || book.ending === "cut" || isLost) continue;
    const asked = "attempts" in book ? book.attempts : book.requests;
    const isAnswered = book.ending === "whole" || asked.length > 0;
    if (isAnswered) world.violate("committed responses have rows", `${book.ending}, and no row`, book);
  }
  for (const [id, book] of [...world.books, ...world.services]) {
    if (book.ending === "whole" && !found.has(id) && world.store.receipts.has(book.receiptId ?? ""))
      world.violate("committed responses have rows", "the row was there, and is not any more", book);
  }
}
