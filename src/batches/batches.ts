import type { Sources } from "../base/sources.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { isVisible, type Owned, type Reader } from "../canon/ownership.ts";
import { askedOf, madeOnce, newIdOf, type ObjectOwner } from "../objects/made-once.ts";
import type { ObjectContent } from "../objects/object-content.ts";
import { parseObjectId } from "../objects/object-id.ts";
import type { Objects } from "../objects/objects.ts";
import { shareUsed } from "../objects/share.ts";
import type { UploadLimits } from "../objects/uploaded-files.ts";
import type { Storage } from "../storage/storage.ts";
import { countLines, NO_LINES } from "../storage/tables/batch-lines.ts";
import { type BatchTerms, insertBatch, type ShownBatch, selectBatches } from "../storage/tables/batches.ts";
import {
  changeObject,
  insertObjectWithin,
  listObjects,
  type ObjectBlob,
  type ObjectPage,
  type StoredObject,
  selectBlobs,
  selectObjects,
} from "../storage/tables/objects.ts";
import type { Batch, BatchMetadata, BatchState } from "./batch.ts";

interface BatchesOptions extends Sources {
  storage: Storage;
  objects: Objects;
  limits: UploadLimits;
  content: Pick<ObjectContent, "remove">;
}

/** What a client says about a batch. */
export interface NewBatch
  extends Pick<BatchMetadata, "inputId" | "requests" | "client" | "name" | "window" | "headers"> {
  form: string;
  endpoint: string;
  windowMs: number;
  /** Its lines, if they were in the request; otherwise those of the input file. */
  blobs?: readonly (ObjectBlob & { sha256?: string })[];
}

/** How long a batch can be shown. Its output files are kept like other files. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export const ENDED: ReadonlySet<BatchState> = new Set(["completed", "failed", "expired", "cancelled"]);

/** Batches as clients see them: created, listed, polled and cancelled. */
export class Batches {
  readonly #options: BatchesOptions;
  /** Called when there is something to do. */
  onWork: () => void = () => {};
  /** Called before the state of a batch is shown that has not ended. */
  onPoll: (id: string) => Promise<void> = async () => {};

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /** The batch shares the blobs of its input file, which may be deleted before it is done. */
  async create(owner: ObjectOwner, batch: NewBatch): Promise<Batch> {
    const { storage, clock, random, limits } = this.#options;
    const { form, endpoint, windowMs, inputId, requests, client, name, window, headers } = batch;
    const createdAtMs = Math.floor(clock.wallMs());
    const terms: BatchTerms = {
      id: newIdOf(owner, "batch", random),
      form,
      endpoint,
      deadlineAtMs: Math.floor(clock.nowMs()) + windowMs,
    };
    const metadata: BatchMetadata = withoutAbsent({
      inputId,
      requests,
      client,
      name,
      window,
      headers,
      at: { validating: createdAtMs },
    });
    const sums = batch.blobs?.map(({ sha256, size }) => [sha256, size]);
    const object: StoredObject = {
      id: terms.id,
      kind: "batch",
      project: owner.project,
      keyId: owner.keyId,
      share: owner.share,
      state: "validating",
      // The content of an input file is counted there.
      size: (batch.blobs ?? []).reduce((sum, { size }) => sum + size, 0),
      metadata: { ...metadata, ...askedOf(owner, form, endpoint, window, inputId, client, name, headers, sums) },
      createdAtMs,
      expiresAtMs: createdAtMs + KEPT_MS,
    };
    const blobs = batch.blobs ?? (await selectBlobs(storage, inputId ?? ""));
    const { maxProjectBytes } = limits;
    const made = await madeOnce(object, async () => {
      const full = await insertObjectWithin(storage, object, blobs, maxProjectBytes, (queries) =>
        insertBatch(queries, terms),
      );
      if (full !== undefined) throw shareUsed(owner.project, full);
    });
    if (made !== object) {
      // Its own requests are stored already.
      if (batch.blobs !== undefined) await this.#options.content.remove(batch.blobs).catch(() => undefined);
      const [before] = await this.#withLines([made]);
      if (before !== undefined) return before;
    }
    this.onWork();
    return batchOf(object, { ...terms, provider: undefined }, NO_LINES);
  }

  async find(reader: Reader, id: string): Promise<Batch | undefined> {
    const object = await this.#object(reader, id);
    if (object === undefined) return undefined;
    if (ENDED.has(object.state as BatchState)) return (await this.#withLines([object]))[0];
    await this.onPoll(object.id);
    const now = await this.#object(reader, id);
    return now === undefined ? undefined : (await this.#withLines([now]))[0];
  }

  async list(
    reader: Reader,
    { after, limit, order }: { after?: string | undefined; limit: number; order: ObjectPage["order"] },
  ): Promise<{ batches: Batch[]; hasMore: boolean }> {
    const { storage, clock } = this.#options;
    const from = after === undefined ? undefined : await this.#object(reader, after);
    if (after !== undefined && from === undefined) return { batches: [], hasMore: false };
    const page: ObjectPage = { kind: "batch", order, after: from, limit: limit + 1 };
    const found = await listObjects(storage, reader, page, clock.wallMs());
    return { batches: await this.#withLines(found.slice(0, limit)), hasMore: found.length > limit };
  }

  /** Those of any project, newest first; for operators. */
  async listAll(...asked: Parameters<Objects["list"]>): Promise<Batch[]> {
    const [filter, page] = asked;
    return this.#withLines(await this.#options.objects.list({ ...filter, kind: "batch" }, page));
  }

  /** Lines that have not begun are not run; those that run are finished and billed. */
  async cancel(reader: Reader, id: string): Promise<Batch | undefined> {
    const { storage, clock } = this.#options;
    const object = await this.#object(reader, id);
    if (object === undefined) return undefined;
    const state: BatchState = "cancelling";
    const metadata = withMoment(object, state, clock.wallMs());
    const isChanged = await changeObject(storage, object.id, ["validating", "in_progress"], { state, metadata });
    if (isChanged) this.onWork();
    else if (!["cancelling", "cancelled"].includes(object.state)) throw ended(object);
    return this.find(reader, id);
  }

  /** Removes a batch that has ended. Its output files stay. Returns false if there is none that `may` be deleted. */
  async delete(id: string, may: (owned: Owned) => boolean): Promise<boolean> {
    const object = await this.#named(id);
    if (object === undefined || !may(object)) return false;
    if (!ENDED.has(object.state as BatchState)) {
      const message = `This batch has not ended: it is ${object.state}. Cancel it first.`;
      throw new GatewayError("invalid_request", message, { code: "batch_not_ended" });
    }
    return this.#options.objects.delete(object.id);
  }

  async #object(reader: Reader, id: string): Promise<StoredObject | undefined> {
    const object = await this.#named(id);
    return object !== undefined && isVisible(object, reader) ? object : undefined;
  }

  /** The batch of any key. */
  async #named(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named?.kind !== "batch") return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === "batch" ? object : undefined;
  }

  async #withLines(objects: readonly StoredObject[]): Promise<Batch[]> {
    const { storage } = this.#options;
    const ids = objects.map(({ id }) => id);
    const [terms, counts] = [await selectBatches(storage, ids), await countLines(storage, ids)];
    return objects.flatMap((object) => {
      const known = terms.get(object.id);
      return known === undefined ? [] : [batchOf(object, known, counts.get(object.id) ?? NO_LINES)];
    });
  }
}

/** The metadata of a batch that reaches a state now. */
export function withMoment(
  { metadata }: Pick<StoredObject, "metadata">,
  state: BatchState,
  nowMs: number,
  more: Partial<BatchMetadata> = {},
): StoredObject["metadata"] {
  const known = metadata as unknown as BatchMetadata;
  return { ...known, ...withoutAbsent(more), at: { ...known.at, [state]: Math.floor(nowMs) } };
}

function batchOf(
  object: StoredObject,
  { form, endpoint, deadlineAtMs, provider }: ShownBatch,
  counts: Batch["counts"],
): Batch {
  const metadata = object.metadata as unknown as BatchMetadata;
  const { id, project, keyId, share, state, createdAtMs } = object;
  const owned = { project, keyId, share };
  const { requests } = metadata;
  return {
    ...metadata,
    ...owned,
    id,
    form,
    endpoint,
    state: state as BatchState,
    createdAtMs,
    deadlineAtMs,
    provider,
    counts: state === "validating" && requests !== undefined ? { ...counts, total: requests, open: requests } : counts,
  };
}

const ended = ({ state }: StoredObject): GatewayError =>
  new GatewayError("invalid_request", `This batch has already ended: it is ${state}.`, { code: "batch_ended" });
