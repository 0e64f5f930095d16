import type { Sources } from "../base/sources.ts";
import { GatewayError } from "../canon/error.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteNativeBatch, insertNativeBatch, submitLines } from "../storage/tables/native-batches.ts";
import type { StoredObject } from "../storage/tables/objects.ts";
import { inputLines } from "./input-lines.ts";
import { leaveAllLines } from "./leave-all-lines.ts";
import type { LinePace } from "./line-pace.ts";
import type { BatchMode, NativeJobs, NativeLines, OwnedBatch, PreparedRequest } from "./native-work.ts";

export interface ChooseNativeOptions extends Pick<Sources, "random"> {
  storage: Storage;
  content: ObjectContent;
  lines: NativeLines;
  jobs: NativeJobs;
  mode: BatchMode;
  pace: Pick<LinePace, "rest">;
  maxLineBytes: number;
}

/** Providers promise their results within a day, no sooner. */
const NATIVE_WINDOW_MS = 24 * 60 * 60_000;
/** A batch is written in memory when it is submitted. */
const MAX_BYTES = 100 * 1024 * 1024;
/** The largest id of a line, and what an API writes around a request. */
const LINE_OVERHEAD = 160;
const LINES_AT_ONCE = 500;

/** Whether a provider runs the batch. If the gateway does: why. */
export type Choice = { isNative: true } | { isNative: false; reason: string };

const own = (reason: string): Choice => ({ isNative: false, reason });

/**
 * Decides whether a provider's batch API runs a batch: if every line that can be run goes to one offer whose provider has one. Lines that
 * would be refused stay in the gateway's own queue, where they fail by themselves.
 */
export async function chooseNative(
  options: ChooseNativeOptions,
  batch: OwnedBatch,
  { createdAtMs }: Pick<StoredObject, "createdAtMs">,
): Promise<Choice> {
  const { storage, jobs, mode } = options;
  await deleteNativeBatch(storage, batch.id);
  if (mode === "own") return own("batch.mode is own.");
  if (!jobs.hasAny()) return own("No provider has a batch API.");
  if (batch.deadlineAtMs - createdAtMs < NATIVE_WINDOW_MS)
    return own("Providers run batches within 24h, which is longer than its completion_window.");
  const chosen = await submitAll(options, batch);
  if ("reason" in chosen) {
    await leaveAllLines(options, batch.id, "waiting");
    return own(chosen.reason);
  }
  const { target, provider, credential } = chosen;
  const marker = `t${options.random.id().replaceAll(/[^A-Za-z0-9]/g, "x")}`;
  await insertNativeBatch(storage, { id: batch.id, target, provider, credential, marker });
  return { isNative: true };
}

async function submitAll(
  { storage, content, lines, jobs, pace, maxLineBytes }: ChooseNativeOptions,
  batch: OwnedBatch,
): Promise<PreparedRequest | { reason: string }> {
  const input = await content.open(batch.id);
  if (input === undefined) return { reason: "Its input was deleted." };
  let first: PreparedRequest | undefined;
  let fitting: number[] = [];
  let count = 0;
  let bytes = 0;
  for await (const found of inputLines(input, maxLineBytes)) {
    if (found === undefined) return { reason: "A line is too large." };
    const { number: line } = found;
    const trial = { batch, customId: "", line, text: found.bytes.toString() };
    const prepared = await lines.prepare(trial, first?.target, true);
    await pace.rest();
    if ("unfit" in prepared) return { reason: `Line ${line}: ${prepared.unfit}` };
    if ("refused" in prepared) continue;
    if (first === undefined) {
      first = prepared;
      const unpriced = refusalOf(() => jobs.requirePrice(prepared.target, batch));
      if (unpriced !== undefined) return { reason: unpriced.message };
    } else if (JSON.stringify(prepared.headers) !== JSON.stringify(first.headers)) {
      return { reason: `Line ${line}: It needs other headers than the lines before it.` };
    }
    bytes += Buffer.byteLength(prepared.body) + LINE_OVERHEAD;
    const { maxLines, maxBytes } = jobs.limitsOf(prepared.target);
    if (++count > maxLines) return { reason: `The provider accepts at most ${maxLines} lines.` };
    if (bytes > Math.min(maxBytes, MAX_BYTES)) return { reason: "It is larger than the provider's batch API accepts." };
    fitting.push(line);
    if (fitting.length < LINES_AT_ONCE) continue;
    await submitLines(storage, batch.id, fitting);
    fitting = [];
  }
  await submitLines(storage, batch.id, fitting);
  return first ?? { reason: "None of its lines can be run." };
}

function refusalOf(check: () => void): GatewayError | undefined {
  try {
    check();
    return undefined;
  } catch (refusal) {
    if (refusal instanceof GatewayError) return refusal;
    throw refusal;
  }
}
