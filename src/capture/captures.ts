import type { Clock } from "../base/clock.ts";
import type { Storage } from "../storage/storage.ts";
import {
  deleteCapturesBefore,
  deleteOldestCaptures,
  insertCaptures,
  type StoredCapture,
  selectCapture,
  sumCaptureSizes,
} from "../storage/tables/captures.ts";
import type { CaptureMemory } from "./body-capture.ts";
import { CallCapture } from "./call-capture.ts";
import { type CapturedBodies, capturedBodies } from "./captured-bodies.ts";

/** The most memory of all captures, and how many may wait to be written. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const MAX_WAITING = 256;
const ROWS_AT_ONCE = 8;
const DELETED_AT_ONCE = 100;
const PAUSE_MS = 20;
/** A response that has not ended by then is kept as far as it is known. */
const ANSWER_ENDS_MS = 5_000;
/** The share that is deleted when there is too much, so that not every capture deletes another. */
const ROOM = 0.1;
/** The minimum time between two reports of dropped captures. */
const TELL_MS = 60_000;

export interface CaptureLimits {
  retentionMs: number;
  /** Of one body, in characters of its redacted text. */
  maxBodyBytes: number;
  /** Of the images and audio of one call that are kept with its bodies; 0 keeps none. */
  maxMediaBytes: number;
  /** Of all stored captures, compressed. */
  maxTotalBytes: number;
}

/** Seals a text for one place, so that whoever reads the storage learns nothing of it. */
interface Sealer {
  seal(text: string, place: string): Promise<Uint8Array>;
  open(sealed: Uint8Array, place: string): Promise<string>;
}

/** The owner of the call, and its stored bodies. */
type ReadCapture = Omit<StoredCapture, "bodies"> & { bodies: CapturedBodies };

/** Sealed with another key, or modified. */
export class UnreadableCapture extends Error {}

interface CapturesOptions {
  storage: Storage;
  clock: Clock;
  /** Absent: nothing is stored. */
  sealer: Sealer | undefined;
  limits: CaptureLimits;
  /** Called with the total number of dropped captures. */
  onDropped: (dropped: number, why: unknown) => void;
}

/**
 * Stores the bodies of calls whose key has capture enabled. No call waits for it: what does not fit, or what the
 * storage does not accept, is dropped and counted.
 */
export class Captures implements CaptureMemory {
  readonly #options: CapturesOptions;
  readonly #waiting: CallCapture[] = [];
  #heldBytes = 0;
  #dropped = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  /** The stored size, as far as this process knows. */
  #totalBytes: number | undefined;

  constructor(options: CapturesOptions) {
    this.#options = options;
  }

  get limits(): CaptureLimits {
    return this.#options.limits;
  }

  /** Captures that were not stored, since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Earlier captures have expired, whether or not they are deleted yet. */
  get keptSinceMs(): number {
    return this.#options.clock.wallMs() - this.limits.retentionMs;
  }

  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > MAX_HELD_BYTES) return false;
    this.#heldBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  begin(): CallCapture | undefined {
    if (this.#options.sealer !== undefined) return new CallCapture(this, this.#enqueue);
    this.#drop(1, new Error("there is no key to seal them with"));
    return undefined;
  }

  /** The call is settled: its capture is written when the response has ended, or after a time limit. */
  settled(capture: CallCapture): void {
    this.#options.clock.after(ANSWER_ENDS_MS, () => capture.answered(), { background: true });
  }

  readonly #enqueue = (capture: CallCapture): void => {
    if (this.#waiting.length >= MAX_WAITING) {
      capture.drop();
      this.#drop(1, new Error(`${MAX_WAITING} are already waiting to be stored`));
      return;
    }
    this.#waiting.push(capture);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  };

  async #write(): Promise<void> {
    const { clock } = this.#options;
    while (this.#waiting.length > 0) {
      // In a separate turn: the end of the response goes first.
      await clock.sleep(0);
      const some = this.#waiting.splice(0, ROWS_AT_ONCE);
      try {
        await this.#store(some);
      } catch (why) {
        this.#drop(some.length, why);
      } finally {
        for (const capture of some) capture.drop();
      }
    }
  }

  async #store(captures: readonly CallCapture[]): Promise<void> {
    const { storage, clock, limits, sealer } = this.#options;
    const rows: StoredCapture[] = [];
    for (const capture of captures) {
      const { call } = capture;
      if (call === undefined || sealer === undefined) continue;
      const bodies = JSON.stringify(capturedBodies(capture, limits.maxBodyBytes, limits.maxMediaBytes));
      rows.push({ ...call, bodies: await sealer.seal(bodies, placeOf(call.receiptId)) });
      await clock.sleep(0);
    }
    this.#totalBytes ??= await sumCaptureSizes(storage);
    this.#totalBytes += await insertCaptures(storage, rows);
    if (this.#totalBytes > limits.maxTotalBytes) await this.#makeRoom();
  }

  /** Deletes the oldest, to make room for more. */
  async #makeRoom(): Promise<void> {
    const { storage, clock, limits } = this.#options;
    // Other processes store and delete, too.
    let total = await sumCaptureSizes(storage);
    while (total > limits.maxTotalBytes * (1 - ROOM)) {
      const freed = await deleteOldestCaptures(storage, oldestToDelete(total, limits));
      if (freed === 0) break;
      total -= freed;
      await clock.sleep(PAUSE_MS);
    }
    this.#totalBytes = total;
  }

  /** Undefined if none is stored. Throws if it was sealed with another key. */
  async read(receiptId: string): Promise<ReadCapture | undefined> {
    const { storage, sealer } = this.#options;
    const found = await selectCapture(storage, receiptId, this.keptSinceMs);
    if (found === undefined || sealer === undefined) return undefined;
    const bodies = await sealer.open(found.bodies, placeOf(receiptId)).catch((cause: unknown) => {
      throw new UnreadableCapture("it cannot be opened", { cause });
    });
    return { ...found, bodies: JSON.parse(bodies) as CapturedBodies };
  }

  /** Deletes expired captures in batches, and the oldest if the total is too large. */
  async sweep(): Promise<void> {
    const { storage, clock, limits } = this.#options;
    while ((await deleteCapturesBefore(storage, this.keptSinceMs, DELETED_AT_ONCE)) === DELETED_AT_ONCE) {
      await clock.sleep(PAUSE_MS);
    }
    this.#totalBytes = await sumCaptureSizes(storage);
    if (this.#totalBytes > limits.maxTotalBytes) await this.#makeRoom();
  }

  /** Resolves when nothing waits to be stored. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #drop(count: number, why: unknown): void {
    this.#dropped += count;
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - this.#toldAtMs < TELL_MS) return;
    this.#toldAtMs = nowMs;
    this.#options.onDropped(this.#dropped, why);
  }
}

const placeOf = (receiptId: string): string => `capture ${receiptId}`;

/** One if each may be large, more if there is much to delete. */
const oldestToDelete = (total: number, { maxTotalBytes, maxBodyBytes }: CaptureLimits): number =>
  Math.max(1, Math.min(DELETED_AT_ONCE, Math.floor((total - maxTotalBytes * (1 - ROOM)) / (4 * maxBodyBytes))));
