import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { newObjectRandom } from "../objects/object-id.ts";
import type { Storage } from "../storage/storage.ts";
import { countLines, dropResults, type EndedLine, selectEndedLines } from "../storage/tables/batch-lines.ts";
import {
  changeObject,
  insertBlobs,
  insertObject,
  type ObjectBlob,
  type StoredObject,
} from "../storage/tables/objects.ts";
import type { BatchState } from "./batch.ts";
import { type BatchForm, hasSucceeded } from "./batch-form.ts";
import { withMoment } from "./batches.ts";
import type { LinePace } from "./line-pace.ts";

interface BatchOutputOptions extends Sources {
  storage: Storage;
  content: ObjectContent;
  pace: LinePace;
  /** How long output files are kept; if absent, until they are deleted. */
  retentionMs: number | undefined;
}

type OutputKey = "outputId" | "errorId";

const LINES_AT_ONCE = 50;

/** Writes the files of a batch that has no more lines to run. */
export class BatchOutput {
  readonly #options: BatchOutputOptions;

  constructor(options: BatchOutputOptions) {
    this.#options = options;
  }

  /** Writes the output, and only then shows the batch as ended. Returns its state; undefined if it was changed meanwhile. */
  async write(batch: StoredObject, form: BatchForm): Promise<BatchState | undefined> {
    const { storage, content, clock } = this.#options;
    const counts = (await countLines(storage, [batch.id])).get(batch.id);
    const [succeeded, total] = [counts?.succeeded ?? 0, counts?.total ?? 0];
    const outputs: { key: OutputKey; isWanted: (succeeded: boolean) => boolean; count: number }[] = form.separatesErrors
      ? [
          { key: "outputId", isWanted: (succeeded) => succeeded, count: succeeded },
          { key: "errorId", isWanted: (succeeded) => !succeeded, count: total - succeeded },
        ]
      : [{ key: "outputId", isWanted: () => true, count: total }];
    const files: { key: OutputKey; object: StoredObject; blob: ObjectBlob }[] = [];
    for (const { key, isWanted, count } of outputs) {
      if (count === 0) continue;
      const blob = await content.write(this.#rendered(batch.id, form, isWanted), Number.MAX_SAFE_INTEGER);
      files.push({ key, object: this.#file(batch, key, blob.size), blob });
    }
    const isExpired = counts !== undefined && counts.expired > 0;
    const state: BatchState = batch.state === "cancelling" ? "cancelled" : isExpired ? "expired" : "completed";
    const isEnded = await storage.transaction(async (queries) => {
      const ids = Object.fromEntries(files.map(({ key, object }) => [key, object.id]));
      const metadata = withMoment(batch, state, clock.wallMs(), ids);
      if (!(await changeObject(queries, batch.id, [batch.state], { state, metadata }))) return false;
      for (const { object, blob } of files) {
        await insertObject(queries, object);
        await insertBlobs(queries, object.id, 0, [blob]);
      }
      return true;
    });
    if (!isEnded) {
      await content.remove(files.map(({ blob }) => blob));
      return undefined;
    }
    await this.#dropResults(batch.id);
    return state;
  }

  #file(batch: StoredObject, key: OutputKey, size: number): StoredObject {
    const { random, clock, retentionMs } = this.#options;
    const createdAtMs = Math.floor(clock.wallMs());
    return withoutAbsent({
      id: newObjectRandom(random),
      kind: "file" as const,
      project: batch.project,
      keyId: batch.keyId,
      share: batch.share,
      state: "uploaded",
      size,
      purpose: "batch_output",
      metadata: {
        name: `batch_${batch.id}_${key === "outputId" ? "output" : "error"}.jsonl`,
        mimeType: "application/jsonl",
      },
      createdAtMs,
      expiresAtMs: retentionMs === undefined ? undefined : createdAtMs + Math.floor(retentionMs),
    });
  }

  async *#rendered(id: string, form: BatchForm, isWanted: (succeeded: boolean) => boolean): AsyncGenerator<Uint8Array> {
    for await (const page of this.#pages(id)) {
      const wanted = page.filter((line) => isWanted(hasSucceeded(line)));
      if (wanted.length > 0) yield Buffer.from(wanted.map((line) => `${form.render(line)}\n`).join(""));
    }
  }

  /** The output file has them now. A crash before the last of them leaves some until the batch is removed. */
  async #dropResults(id: string): Promise<void> {
    for await (const page of this.#pages(id)) {
      const [first, last] = [page[0], page.at(-1)];
      if (first && last) await dropResults(this.#options.storage, id, first.line, last.line);
    }
  }

  /** In small pages, because the event loop is blocked while one is read and written. */
  async *#pages(id: string): AsyncGenerator<readonly EndedLine[]> {
    for (let from = 0; ; ) {
      const page = await selectEndedLines(this.#options.storage, id, from, LINES_AT_ONCE);
      if (page.length > 0) yield page;
      const last = page.at(-1);
      if (last === undefined || page.length < LINES_AT_ONCE) return;
      from = last.line + 1;
      await this.#options.pace.rest();
    }
  }
}
