import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import type { OperationPart } from "../../src/canon/operation.ts";
import { Files } from "../../src/files/files.ts";
import { openFileStore } from "../../src/files/open-file-store.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage, StoredRow } from "../../src/storage/storage.ts";
import { type CrashHarness, type Question, VIDEO_MODELS, videoCostNanoUsd } from "./crash-harness.ts";
import type { VideoOutcome } from "./video-client.ts";

/** Past the age at which files left by crashes count as abandoned, and long before any video expires. */
const LATER_MS = 2 * 3_600_000;
const PACE_MS = 200;
/** Rows hold whole milliseconds. */
const ROUNDING_MS = 2;
const OPEN_TIMEOUT_MS = 20_000;

interface Audit {
  operations: number;
  failed: number;
  videos: number;
  /** Videos that a gateway had stored when it was killed, before their operation was saved: they expire like all others. */
  spare: number;
  jobs: number;
  fetches: number;
}

/** Waits until every operation has ended, including those whose name no client received. */
export async function awaitNothingOpen(storageUrl: string): Promise<void> {
  const storage = await openStorage(storageUrl, system.clock);
  const giveUpAtMs = performance.now() + OPEN_TIMEOUT_MS;
  const countOpen = async () => {
    const rows = await storage.query("SELECT id FROM operations WHERE state NOT IN ('done', 'failed')");
    return rows.length;
  };
  while ((await countOpen()) > 0 && performance.now() < giveUpAtMs) await Bun.sleep(50);
  expect(await countOpen()).toBe(0);
  await storage.close();
}

/** Compares rows, money and files with each other when all gateways are down. */
export async function auditVideos(harness: CrashHarness, outcomes: readonly VideoOutcome[]): Promise<Audit> {
  const storage = await openStorage(harness.storage, system.clock);
  const rows = await storage.query("SELECT id, model, state, parts, receipt_id, lease_owner FROM operations");
  const partsOf = (row: StoredRow) => JSON.parse(text(row, "parts")) as OperationPart[];
  const operations = rows.map((row) => ({
    id: text(row, "id"),
    model: text(row, "model"),
    state: text(row, "state"),
    receipt: text(row, "receipt_id"),
    leased: row["lease_owner"] !== null,
    files: partsOf(row).flatMap(({ videos }) => videos.map(({ file }) => file)),
    lost: partsOf(row).filter((part) => part.state === "failed").length,
  }));
  expect(operations.filter(({ state, leased }) => leased || !["done", "failed"].includes(state))).toEqual([]);

  const expected = operations.map(({ receipt, model, files }) => [receipt, files.length * costOf(model)] as const);
  const receipts = await storage.query("SELECT id, cost_nano_usd FROM receipts");
  const billed = receipts.map((row) => [text(row, "id"), number(row, "cost_nano_usd")] as const);
  expect(billed.toSorted(byFirst)).toEqual(expected.toSorted(byFirst));

  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  for (const { order, names, videos, lost } of outcomes) {
    expect({ order: order.number, videos: videos.length + lost }).toEqual({ order: order.number, videos: order.count });
    const id = names.at(-1)?.split("/").at(-1) ?? "";
    const named = videos.map((url) => new URL(url).pathname.split("/").at(-1));
    expect({ id, files: byId.get(id)?.files ?? [] }).toEqual({ id, files: named as string[] });
  }
  const files = operations.flatMap((operation) => operation.files);
  expect(new Set(files).size).toBe(files.length);
  const kept = await checkFiles(storage, harness.filesFolder, files);
  await storage.close();
  // A job is a video, or was lost in a submit; none was submitted twice.
  const { mediaJobs: jobs } = harness.simulator.stats();
  expect(jobs - files.length).toBeGreaterThanOrEqual(0);
  expect(jobs - files.length).toBeLessThanOrEqual(operations.reduce((sum, { lost }) => sum + lost, 0));
  return {
    operations: operations.length,
    failed: operations.filter(({ state }) => state === "failed").length,
    videos: files.length,
    spare: kept - files.length,
    jobs,
    fetches: harness.questions.filter(({ path }) => path.includes("/results/")).length,
  };
}

/** Every video is in the folder, and after a sweep the folder has exactly the files of the table. */
async function checkFiles(storage: Storage, folder: string, videos: readonly string[]): Promise<number> {
  const store = await openFileStore(folder, {}, system);
  const kept = await Files.open({ storage, store, publicUrl: () => "", random: system.random });
  await kept.sweep(Date.now() + LATER_MS);
  // The store's own name is in a hidden file.
  const onDisk = readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .toSorted();
  const rows = await storage.query("SELECT id, size FROM files ORDER BY id");
  expect(onDisk).toEqual(rows.map((row) => text(row, "id")).toSorted());
  expect(videos.filter((video) => !onDisk.includes(video))).toEqual([]);
  for (const row of rows) {
    const file = Bun.file(join(folder, text(row, "id")));
    expect(file.size).toBe(number(row, "size"));
    expect(await file.slice(4, 8).text()).toBe("ftyp");
  }
  return rows.length;
}

/** Polls of one job that followed each other faster than its host allows. */
export function hastyQuestions(questions: readonly Question[]): string[] {
  const last = new Map<string, number>();
  const hasty: string[] = [];
  for (const { method, path, atMs } of questions) {
    if (method !== "GET" || /results|download/.test(path)) continue;
    const sinceMs = atMs - (last.get(path) ?? Number.NEGATIVE_INFINITY);
    if (sinceMs < PACE_MS - ROUNDING_MS) hasty.push(`${path} after ${Math.round(sinceMs)} ms`);
    last.set(path, atMs);
  }
  return hasty;
}

function costOf(model: string): number {
  const video = VIDEO_MODELS.find(({ id }) => id === model);
  if (video === undefined) throw new Error(`no model ${model}`);
  return videoCostNanoUsd(video);
}

const byFirst = ([one]: readonly [string, number], [other]: readonly [string, number]): number =>
  one < other ? -1 : one > other ? 1 : 0;
