import { parseObject } from "../base/json.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteLines, insertLines, type NewLine } from "../storage/tables/batch-lines.ts";
import type { OpenBatch } from "../storage/tables/batches.ts";
import type { BatchError } from "./batch.ts";
import type { BatchForm } from "./batch-form.ts";
import { inputLines } from "./input-lines.ts";
import type { LinePace } from "./line-pace.ts";
import type { LineToRun } from "./line-work.ts";

interface InputTools {
  storage: Storage;
  content: ObjectContent;
  maxLineBytes: number;
  pace: LinePace;
  estimate(line: LineToRun): Promise<number>;
  /** The program stops; the input is read again later. */
  isStopped(): boolean;
}

const MAX_LINES = 100_000;
const ROWS_AT_ONCE = 100;

/**
 * Reads the whole input of a batch, and stores where its lines are. Returns what they may cost together, or why nothing of it may
 * run; undefined if the program stops.
 */
export async function readInput(
  batch: OpenBatch,
  form: BatchForm,
  tools: InputTools,
): Promise<{ heldNanoUsd: number } | BatchError | undefined> {
  const { storage, content, maxLineBytes, pace } = tools;
  await removeLines(storage, batch.id, pace);
  const input = await content.open(batch.id);
  if (input === undefined) return { code: "input_missing", message: "The input file has been deleted." };
  let waiting: NewLine[] = [];
  let heldNanoUsd = 0;
  let count = 0;
  const insert = async (): Promise<BatchError | undefined> => {
    const repeated = await insertLines(storage, batch.id, waiting);
    waiting = [];
    if (repeated === undefined) return undefined;
    const message = `The ${form.idField} of this line was used before.`;
    return { code: "duplicate_custom_id", message, line: repeated };
  };
  for await (const found of inputLines(input, maxLineBytes)) {
    if (tools.isStopped()) return undefined;
    if (found === undefined) {
      return { code: "line_too_large", message: `A line is larger than ${maxLineBytes} bytes.` };
    }
    const { number: line, bytes, start } = found;
    if (++count > MAX_LINES) {
      const message = `The input has more than ${MAX_LINES} lines, which is the limit.`;
      return { code: "too_many_lines", message, line };
    }
    const text = bytes.toString();
    const read = readLine(text, form, batch.endpoint);
    if ("code" in read) return { ...read, line };
    const { customId } = read;
    const costNanoUsd = await tools.estimate({ batch, customId, line, text });
    heldNanoUsd += costNanoUsd;
    waiting.push({ line, customId, start, size: bytes.length, heldNanoUsd: costNanoUsd });
    await pace.rest();
    const repeated = waiting.length === ROWS_AT_ONCE ? await insert() : undefined;
    if (repeated !== undefined) return repeated;
  }
  if (count === 0) return { code: "empty_input", message: "The input has no lines." };
  return (await insert()) ?? { heldNanoUsd };
}

function readLine(text: string, form: BatchForm, endpoint: string): { customId: string } | BatchError {
  const body = parseObject(text);
  if (body === undefined) return { code: "invalid_json_line", message: "This line is not a JSON object." };
  const customId = form.customId(body);
  if (!customId) return { code: "missing_custom_id", message: `This line has no ${form.idField}.` };
  const problem = form.problem(body, endpoint);
  return problem === undefined ? { customId } : { code: "invalid_line", message: problem };
}

/** In steps, because a statement about a hundred thousand rows would block the event loop. */
export async function removeLines(storage: Storage, batchId: string, pace: Pick<LinePace, "rest">): Promise<void> {
  while (await deleteLines(storage, batchId, ROWS_AT_ONCE)) await pace.rest();
}
