import type { Clock } from "../base/clock.ts";
import {
  type AnswerHead,
  type AnswerState,
  deleteAnswer,
  deleteExpiredAnswers,
  endAnswer,
  insertAnswer,
  isAnswerElsewhere,
  prolongAnswers,
  type StoredAnswer,
  selectAnswers,
  selectChain,
  selectHolders,
} from "../storage/answers.ts";
import type { Storage } from "../storage/storage.ts";
import { type Sealer, UnreadableSeal } from "./sealer.ts";
import { trimAnswers } from "./trim.ts";

/** How long an answer is kept after it was made, or last built on, and how many bytes of all of them. */
export interface AnswerLimits {
  retentionMs: number;
  maxBytes: number;
}

interface AnswersOptions {
  storage: Storage;
  /** Absent: nothing is kept. */
  sealer: Sealer | undefined;
  limits: AnswerLimits;
  clock: Clock;
  onProblem: (error: unknown, what: string) => void;
}

/** An answer that is to be kept. Texts are JSON of its protocol, which nothing here looks into. */
export interface NewAnswer {
  /** New: no other answer has it, of whichever project. */
  id: string;
  project: string;
  /** What it builds on, the latest first. */
  history: readonly AnswerHead[];
  /** The items that its own request brought. */
  input: string;
  answer: string;
  /** The items in the answer that later requests may name. */
  itemIds: readonly string[];
}

/** One answer as it can be read again. */
export interface KeptAnswer {
  state: AnswerState;
  input: string;
  answer: string;
}

/** What a request builds on: the texts of its turns, the first one first. */
export interface History {
  heads: readonly AnswerHead[];
  turns: readonly KeptAnswer[];
}

/** Why there is no history: an answer of it is not kept any more, belongs to another project, has not ended well, or is too much. */
export type NoHistory =
  | { missing: string; elsewhere: boolean }
  | { unfinished: string; state: AnswerState }
  | { bytes: number };

/** Longer ids name nothing: no host makes them, and an index of the storage would refuse them. */
const MAX_ID_LENGTH = 256;
/** No conversation is longer; each turn may hold many items. */
const MAX_TURNS = 10_000;
const ROWS_AT_ONCE = 50;
/** An answer that is built on is prolonged when this share of its time has passed, so that not every turn writes to every other. */
const PROLONG_SHARE = 1 / 8;
/** After this share of all bytes was written it is looked whether the oldest must go. */
const TRIM_SHARE = 1 / 64;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const SWEEP_ROWS = 500;
const MAX_SWEEPS = 200;

const isKeepable = (id: string): boolean => id.length > 0 && id.length <= MAX_ID_LENGTH;

/**
 * Answers that later requests of the same project may build on: sealed in the storage, for a time. Each is kept with what its own turn
 * brought; a conversation is a chain of them. So what a client deletes is gone, and no turn is stored twice.
 */
export class Answers {
  readonly #options: AnswersOptions;
  #writtenBytes = 0;
  /** Of answers that the storage has not taken yet. */
  #waitingBytes = 0;
  #trimming: Promise<void> | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Whether answers are kept at all. */
  get on(): boolean {
    return this.#options.sealer !== undefined;
  }

  /** Whether one with so long a request could be kept. */
  fits(bytes: number): boolean {
    return bytes <= this.#options.limits.maxBytes;
  }

  async keep(answer: NewAnswer, state: "done" | "pending" = "done"): Promise<void> {
    const { storage, limits, clock } = this.#options;
    const { id, project, history, input, answer: text } = answer;
    const [sealedInput, sealedAnswer] = await Promise.all([
      this.#seal(input, project, id, "input"),
      this.#seal(text, project, id, "answer"),
    ]);
    const createdAtMs = Math.floor(clock.wallMs());
    const expiresAtMs = createdAtMs + limits.retentionMs;
    const [latest] = history;
    const row: StoredAnswer = {
      id,
      project,
      ...(latest === undefined ? {} : { previousId: latest.id }),
      state,
      input: sealedInput,
      answer: sealedAnswer,
      inputLength: Buffer.byteLength(input),
      answerLength: Buffer.byteLength(text),
      createdAtMs,
      expiresAtMs,
    };
    await this.#storing(row, () => insertAnswer(storage, row, answer.itemIds.filter(isKeepable)));
    const dueMs = expiresAtMs - limits.retentionMs * PROLONG_SHARE;
    const due = history.filter((head) => head.expiresAtMs < dueMs).map((head) => head.id);
    await prolongAnswers(storage, project, due, expiresAtMs);
    this.#count(sealedInput.length + sealedAnswer.length);
  }

  /** Ends a pending answer. False where it was cancelled, deleted or ended before. */
  async end(
    { id, project, answer, itemIds }: Omit<NewAnswer, "history" | "input">,
    state: "done" | "failed" | "cancelled",
  ): Promise<boolean> {
    const sealed = await this.#seal(answer, project, id, "answer");
    const row = { id, project, state, answer: sealed, answerLength: Buffer.byteLength(answer) };
    this.#count(sealed.length);
    return await this.#storing(row, () => endAnswer(this.#options.storage, row, itemIds.filter(isKeepable)));
  }

  /** Another project's answer looks like one that does not exist (S09). `take` counts what it will hold, and may refuse it. */
  async find(project: string, id: string, take: (bytes: number) => void): Promise<KeptAnswer | undefined> {
    const { storage, clock } = this.#options;
    if (!this.on || !isKeepable(id)) return undefined;
    const [head] = await selectChain(storage, project, id, clock.wallMs(), 0);
    if (head === undefined) return undefined;
    take(head.inputLength + head.answerLength);
    return (await this.#read(project, [id], true)).get(id);
  }

  /** What a request builds on that names this answer. `take` counts what it will hold, and may refuse it. */
  async history(
    project: string,
    id: string,
    maxBytes: number,
    take: (bytes: number) => void,
  ): Promise<History | NoHistory> {
    const { storage, clock } = this.#options;
    if (!this.on || !isKeepable(id)) return { missing: id, elsewhere: false };
    const nowMs = clock.wallMs();
    const heads = await selectChain(storage, project, id, nowMs, MAX_TURNS);
    const last = heads.at(-1);
    if (last === undefined) return { missing: id, elsewhere: await isAnswerElsewhere(storage, project, id, nowMs) };
    if (last.previousId !== undefined) return { missing: last.previousId, elsewhere: false };
    const unfinished = heads.find(({ state }) => state !== "done");
    if (unfinished !== undefined) return { unfinished: unfinished.id, state: unfinished.state };
    const bytes = heads.reduce((sum, { inputLength, answerLength }) => sum + inputLength + answerLength, 0);
    if (bytes > maxBytes) return { bytes };
    take(bytes);
    const ids = heads.map((head) => head.id).reverse();
    const kept = await this.#read(project, ids, true);
    const turns: KeptAnswer[] = [];
    for (const turn of ids) {
      const found = kept.get(turn);
      if (found === undefined) return { missing: turn, elsewhere: false };
      turns.push(found);
    }
    return { heads, turns };
  }

  /**
   * Passes the answers that hold any of the items, one after the other, to `look`, which takes out what it needs of each. Answers
   * beyond `maxBytes` together are not read.
   */
  async lookForItems(
    project: string,
    itemIds: readonly string[],
    maxBytes: number,
    look: (answer: string) => void,
  ): Promise<void> {
    const { storage, clock } = this.#options;
    const keepable = [...new Set(itemIds)].filter(isKeepable);
    if (!this.on || keepable.length === 0) return;
    const holders = await selectHolders(storage, project, keepable, clock.wallMs());
    const heads = new Map([...holders.values()].filter(({ state }) => state === "done").map((head) => [head.id, head]));
    let bytes = 0;
    for (const { id, answerLength } of heads.values()) {
      bytes += answerLength;
      if (bytes > maxBytes) return;
      const kept = (await this.#read(project, [id], false)).get(id);
      if (kept !== undefined) look(kept.answer);
    }
  }

  delete(project: string, id: string): Promise<boolean> {
    const { storage, clock } = this.#options;
    return isKeepable(id) ? deleteAnswer(storage, project, id, clock.wallMs()) : Promise.resolve(false);
  }

  /** Removes what has expired, and the oldest where all of them take too much. Several instances may do so at once. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#options;
    for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      if ((await deleteExpiredAnswers(storage, clock.wallMs(), SWEEP_ROWS)) < SWEEP_ROWS) break;
    }
    await this.#trim();
  }

  /** A storage that does not answer must not fill the memory with what waits for it. */
  async #storing<T>(
    { input, answer }: { input?: Uint8Array; answer: Uint8Array },
    store: () => Promise<T>,
  ): Promise<T> {
    const bytes = answer.length + (input?.length ?? 0);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      throw new Error(`${this.#waitingBytes} bytes of responses wait for the storage already`);
    }
    this.#waitingBytes += bytes;
    try {
      return await store();
    } finally {
      this.#waitingBytes -= bytes;
    }
  }

  #count(bytes: number): void {
    this.#writtenBytes += bytes;
    if (this.#trimming !== undefined || !this.#trimIsDue) return;
    this.#trim().catch((error: unknown) => this.#options.onProblem(error, "old responses could not be removed"));
  }

  get #trimIsDue(): boolean {
    return this.#writtenBytes >= this.#options.limits.maxBytes * TRIM_SHARE;
  }

  async #trim(): Promise<void> {
    this.#trimming ??= this.#trimUntilDone().finally(() => {
      this.#trimming = undefined;
    });
    await this.#trimming;
  }

  /** What was written while a slow storage was read is not in the sizes that it told. */
  async #trimUntilDone(): Promise<void> {
    const { storage, limits } = this.#options;
    do {
      this.#writtenBytes = 0;
      await trimAnswers(storage, limits.maxBytes);
    } while (this.#trimIsDue);
  }

  async #read(project: string, ids: readonly string[], withInput: boolean): Promise<Map<string, KeptAnswer>> {
    const { storage, clock } = this.#options;
    const read = new Map<string, KeptAnswer>();
    for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
      const some = ids.slice(from, from + ROWS_AT_ONCE).filter(isKeepable);
      if (some.length === 0) continue;
      const rows = await selectAnswers(storage, project, some, clock.wallMs(), withInput);
      for (const row of rows.values()) {
        const kept = await this.#open(row);
        if (kept !== undefined) read.set(row.id, kept);
      }
    }
    return read;
  }

  async #open({ id, project, state, input, answer }: StoredAnswer): Promise<KeptAnswer | undefined> {
    const { sealer, onProblem } = this.#options;
    if (sealer === undefined) return undefined;
    try {
      return {
        state,
        input: input.length === 0 ? "" : await sealer.open(input, placeOf(project, id, "input")),
        answer: await sealer.open(answer, placeOf(project, id, "answer")),
      };
    } catch (thrown) {
      if (!(thrown instanceof UnreadableSeal)) throw thrown;
      onProblem(thrown, `the stored response ${id} cannot be read: ${KEY_CURE}`);
      return undefined;
    }
  }

  #seal(text: string, project: string, id: string, part: "input" | "answer"): Promise<Uint8Array> {
    const { sealer } = this.#options;
    if (sealer === undefined) throw new Error("no answers are kept");
    return sealer.seal(text, placeOf(project, id, part));
  }
}

const KEY_CURE = "every instance on one storage needs the same responses.key in its data_dir";

const placeOf = (project: string, id: string, part: string): string => JSON.stringify([project, id, part]);
