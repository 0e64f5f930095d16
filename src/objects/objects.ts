import type { Clock } from "../base/clock.ts";
import { nextTurn } from "../base/next-turn.ts";
import { isVisible, type ObjectKind, type Reader } from "../canon/ownership.ts";
import type { Storage } from "../storage/storage.ts";
import { deleteLines } from "../storage/tables/batch-lines.ts";
import { selectExpiredBatches } from "../storage/tables/batches.ts";
import {
  deleteExpiredObjects,
  deleteObject,
  type StoredObject,
  selectBlobs,
  selectObjectPage,
  selectObjects,
} from "../storage/tables/objects.ts";
import type { ObjectContent } from "./object-content.ts";
import { parseObjectId } from "./object-id.ts";

interface ObjectsOptions {
  storage: Storage;
  content: ObjectContent;
  clock: Clock;
}

/** Where a request names an object, and which kind is allowed there. */
export interface NamedObject {
  id: string;
  kind: ObjectKind;
}

/**
 * `own`: the reader may use it. `hidden`: it belongs to another. `unknown`: it is not the gateway's, and perhaps a
 * provider's.
 */
export type Found = "own" | "hidden" | "unknown";

const SWEEP_ROWS = 500;
const MAX_SWEEPS = 200;

/** The objects that clients have created through this gateway. */
export class Objects {
  readonly #options: ObjectsOptions;
  /** Something may be left of an object at providers. */
  onDeleted: () => void = () => {};

  constructor(options: ObjectsOptions) {
    this.#options = options;
  }

  /** Resolves each name, in order, with one query for all of them, and none if no name has the form of an id. */
  async find(reader: Reader, names: readonly NamedObject[]): Promise<Found[]> {
    const { storage, clock } = this.#options;
    const parsed = names.map(({ id }) => parseObjectId(id));
    const randoms = new Set(parsed.flatMap((id) => id?.random ?? []));
    const stored = randoms.size === 0 ? undefined : await selectObjects(storage, [...randoms], clock.wallMs());
    return names.map(({ kind }, index) => {
      const named = parsed[index];
      const object = stored?.get(named?.random ?? "");
      if (object === undefined) return "unknown";
      const isMeant = object.kind === kind && object.kind === named?.kind;
      return isMeant && isVisible(object, reader) ? "own" : "hidden";
    });
  }

  /** The object with this id in any form, of any project; for operators. */
  async owner(id: string): Promise<StoredObject | undefined> {
    const { storage, clock } = this.#options;
    const named = parseObjectId(id);
    if (named === undefined) return undefined;
    const object = (await selectObjects(storage, [named.random], clock.wallMs())).get(named.random);
    return object?.kind === named.kind ? object : undefined;
  }

  /** `id`: as it is stored. Returns false if there was none. */
  async delete(id: string): Promise<boolean> {
    const { storage, content } = this.#options;
    const blobs = await selectBlobs(storage, id);
    await this.#deleteLines(id);
    if (!(await deleteObject(storage, id))) return false;
    this.onDeleted();
    await content.remove(blobs);
    return true;
  }

  /** Objects of any project that have not expired, newest first; for operators. */
  list(filter: Parameters<typeof selectObjectPage>[1], page: Parameters<typeof selectObjectPage>[2]) {
    const { storage, clock } = this.#options;
    return selectObjectPage(storage, filter, page, clock.wallMs());
  }

  /** Removes expired objects. Several instances may do so at once. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#options;
    for (const id of await selectExpiredBatches(storage, clock.wallMs(), SWEEP_ROWS)) await this.#deleteLines(id);
    for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      if ((await deleteExpiredObjects(storage, clock.wallMs(), SWEEP_ROWS)) < SWEEP_ROWS) break;
    }
  }

  /** Before the object, and in steps: deleting the hundred thousand lines of a batch at once would block the event loop. */
  async #deleteLines(id: string): Promise<void> {
    while (await deleteLines(this.#options.storage, id, SWEEP_ROWS)) await nextTurn();
  }
}
