import type { Clock } from "../base/clock.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { isVisible, type Owned, type Reader } from "../canon/ownership.ts";
import { objectId } from "../objects/object-id.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type AnswerPage,
  type AnswerParts,
  type AnswerState,
  deleteAnswer,
  deleteExpiredAnswers,
  endAnswer,
  insertAnswer,
  listAnswers,
  prolongAnswers,
  replaceMetadata,
  type StoredAnswer,
  type StoredAnswerHead,
  selectAnswerHead,
  selectAnswers,
  selectChain,
  selectHolders,
  selectMetadata,
} from "../storage/tables/answers.ts";
import { type Sealer, UnreadableSeal } from "./sealer.ts";
import type {
  ConversationHistory,
  ConversationPlace,
  KeptItem,
  StoredConversations,
  WriteTurn,
} from "./stored-conversations.ts";
import { trimAnswers } from "./trim.ts";

/** How long an answer is kept after it was created or last built on, and the maximum size of all of them. */
export interface AnswerLimits {
  retentionMs: number;
  maxBytes: number;
}

interface AnswersOptions {
  storage: Storage;
  /** Some answers are turns of these. */
  conversations: Pick<StoredConversations, "before">;
  /** Absent: nothing is stored. */
  sealer: Sealer | undefined;
  limits: AnswerLimits;
  clock: Clock;
  onProblem: (error: unknown, what: string) => void;
}

/** An answer to be stored. Texts are JSON of its protocol and are not parsed here. */
export interface NewAnswer extends Owned {
  /** A new id, unique across projects. */
  id: string;
  /** The answers it builds on, latest first. */
  history: readonly StoredAnswerHead[];
  /** The items of its own request. */
  input: string;
  answer: string;
  /** The items in the answer that later requests may refer to. */
  itemIds: readonly string[];
  /** The conversation that it is a turn of, and the writer of that turn, if both are stored at once. */
  conversation?: ConversationPlace | undefined;
  writeTurn?: WriteTurn | undefined;
  /** Set if it is listed: the model that made it, and what else it can be found by. */
  listed?: { model: string; metadata: Readonly<Record<string, string>> } | undefined;
}

/** A stored answer. */
export interface KeptAnswer {
  state: AnswerState;
  input: string;
  answer: string;
}

/** One turn that an answer was made from, without the answer itself. */
interface InputTurn {
  id: string;
  input: string;
  /** The ids of its items, if they may lack their own. */
  ids?: readonly string[];
  answer: string | undefined;
}

/** A page of listed answers, and whether there are more. */
interface ListedAnswers {
  answers: readonly { id: string; answer: string; metadata: Readonly<Record<string, string>> }[];
  hasMore: boolean;
}

/** What a request builds on: the texts of its turns, in order. */
export interface History {
  heads: readonly StoredAnswerHead[];
  turns: readonly KeptAnswer[];
}

/**
 * Why there is no history: one of its answers is no longer stored, is not visible to this reader, did not complete, or
 * the history is too large.
 */
export type NoHistory = { missing: string } | { unfinished: string; state: AnswerState } | { bytes: number };

/** Longer ids match nothing: no host creates them, and an index of the storage would reject them. */
const MAX_ID_LENGTH = 256;
/** The longest conversation; each turn may hold many items. */
const MAX_TURNS = 10_000;
const ROWS_AT_ONCE = 50;
/**
 * An answer that is built on is prolonged after this share of its time, so that not every turn writes to every other.
 */
const PROLONG_SHARE = 1 / 8;
/** After this share of the maximum was written, the total size is checked. */
const TRIM_SHARE = 1 / 64;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** A page of answers ends before one that would exceed this. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const SWEEP_ROWS = 500;
const MAX_SWEEPS = 200;

const isKeepable = (id: string): boolean => id.length > 0 && id.length <= MAX_ID_LENGTH;

/**
 * Answers that later requests may build on, stored encrypted for a limited time. Each belongs to the key that created
 * it, and is visible to its project or only to that key. Each is stored with the items of its own turn; a conversation
 * is a chain of them. So deleted content is gone, and no turn is stored twice.
 */
export class Answers {
  readonly #options: AnswersOptions;
  #writtenBytes = 0;
  /** The size of answers that the storage has not taken yet. */
  #waitingBytes = 0;
  #trimming: Promise<void> | undefined;

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Whether answers are stored at all. */
  get on(): boolean {
    return this.#options.sealer !== undefined;
  }

  /** Whether an answer with a request of this size could be stored. */
  fits(bytes: number): boolean {
    return bytes <= this.#options.limits.maxBytes;
  }

  async keep(answer: NewAnswer, state: "done" | "pending" = "done"): Promise<void> {
    const { storage, limits, clock } = this.#options;
    const { id, project, keyId, share, history, input, answer: text, conversation, listed } = answer;
    const [sealedInput, sealedAnswer] = await Promise.all([
      this.#seal(input, project, id, "input"),
      this.#seal(text, project, id, "answer"),
    ]);
    const createdAtMs = Math.floor(clock.wallMs());
    const expiresAtMs = createdAtMs + limits.retentionMs;
    const [latest] = history;
    const row: StoredAnswer = withoutAbsent({
      id,
      project,
      keyId,
      share,
      previousId: latest?.id,
      conversation,
      model: listed?.model,
      state,
      input: sealedInput,
      answer: sealedAnswer,
      inputLength: Buffer.byteLength(input),
      answerLength: Buffer.byteLength(text),
      createdAtMs,
      expiresAtMs,
    });
    const itemIds = answer.itemIds.filter(isKeepable);
    const also = { itemIds, metadata: listed?.metadata, also: answer.writeTurn };
    await this.#storing(row, () => insertAnswer(storage, row, also));
    const dueMs = expiresAtMs - limits.retentionMs * PROLONG_SHARE;
    const due = history.filter((head) => head.expiresAtMs < dueMs).map((head) => head.id);
    await prolongAnswers(storage, project, due, expiresAtMs);
    this.#count(sealedInput.length + sealedAnswer.length);
  }

  /** Ends a pending answer. False if it was cancelled, deleted or ended before. */
  async end(
    { id, project, answer, itemIds, writeTurn }: Pick<NewAnswer, "id" | "project" | "answer" | "itemIds" | "writeTurn">,
    state: "done" | "failed" | "cancelled",
  ): Promise<boolean> {
    const sealed = await this.#seal(answer, project, id, "answer");
    const row = { id, project, state, answer: sealed, answerLength: Buffer.byteLength(answer) };
    this.#count(sealed.length);
    const also = { itemIds: itemIds.filter(isKeepable), also: writeTurn };
    return await this.#storing(row, () => endAnswer(this.#options.storage, row, also));
  }

  /**
   * An answer that is not visible to this reader looks like one that does not exist (S09). `take` counts its size, and
   * may refuse it.
   */
  async find(reader: Reader, id: string, take: (bytes: number) => void): Promise<KeptAnswer | undefined> {
    const head = await this.#head(reader, id);
    if (head === undefined) return undefined;
    take(head.inputLength + head.answerLength);
    return (await this.#read(head.project, [id], "both")).get(id);
  }

  async #head(reader: Reader, id: string): Promise<StoredAnswerHead | undefined> {
    const { storage, clock } = this.#options;
    if (!this.on || !isKeepable(id)) return undefined;
    const [head] = await selectChain(storage, reader.project, id, clock.wallMs(), 0);
    return head !== undefined && isVisible(head, reader) ? head : undefined;
  }

  /** What a request builds on that names this answer. `take` counts its size, and may refuse it. */
  async history(
    reader: Reader,
    id: string,
    maxBytes: number,
    take: (bytes: number) => void,
  ): Promise<History | NoHistory> {
    const heads = await this.#chain(reader, id);
    const last = heads.at(-1);
    if (last === undefined) return { missing: id };
    if (last.previousId !== undefined) return { missing: last.previousId };
    const unfinished = heads.find(({ state }) => state !== "done");
    if (unfinished !== undefined) return { unfinished: unfinished.id, state: unfinished.state };
    const bytes = heads.reduce((sum, { inputLength, answerLength }) => sum + inputLength + answerLength, 0);
    if (bytes > maxBytes) return { bytes };
    take(bytes);
    const turns: KeptAnswer[] = [];
    const earlier = await this.#conversationBefore(reader, last, maxBytes - bytes, take);
    if (earlier === "too_large") return { bytes: maxBytes + 1 };
    if (earlier === "missing") return { missing: objectId("conversation", "chat", last.conversation?.id ?? "") };
    if (earlier !== undefined) turns.push({ state: "done", input: listOf(earlier.items), answer: "{}" });
    const ids = heads.map((head) => head.id).reverse();
    const kept = await this.#read(reader.project, ids, "both");
    for (const turn of ids) {
      const found = kept.get(turn);
      if (found === undefined) return { missing: turn };
      turns.push(found);
    }
    return { heads, turns };
  }

  /**
   * What an answer was made from, read turn by turn; only its own turn if the conversation is incomplete. Empty if
   * this reader may not see it. `hold` counts the size of one turn, and returns the function that releases it.
   */
  async *inputTurns(
    reader: Reader,
    id: string,
    order: "asc" | "desc",
    hold: (bytes: number) => () => void,
  ): AsyncGenerator<InputTurn> {
    const chain = await this.#chain(reader, id);
    const [last] = chain;
    const heads = chain.at(-1)?.previousId === undefined ? chain : chain.slice(0, 1);
    const first = heads.at(-1);
    if (order === "asc") yield* this.#conversationTurn(reader, first, hold);
    for (const head of order === "desc" ? heads : heads.toReversed()) {
      const withAnswer = head !== last;
      const release = hold(head.inputLength + (withAnswer ? head.answerLength : 0));
      try {
        const kept = (await this.#read(reader.project, [head.id], withAnswer ? "both" : "input")).get(head.id);
        // It was deleted in the meantime.
        if (kept === undefined) return;
        yield { id: head.id, input: kept.input, answer: withAnswer ? kept.answer : undefined };
      } finally {
        release();
      }
    }
    if (order === "desc") yield* this.#conversationTurn(reader, first, hold);
  }

  /** The items of its conversation that preceded an answer, as one turn; none if they are gone. */
  async *#conversationTurn(
    reader: Reader,
    head: StoredAnswerHead | undefined,
    hold: (bytes: number) => () => void,
  ): AsyncGenerator<InputTurn> {
    const releases: (() => void)[] = [];
    try {
      const take = (bytes: number) => void releases.push(hold(bytes));
      const earlier = head && (await this.#conversationBefore(reader, head, Number.MAX_SAFE_INTEGER, take));
      if (earlier === undefined || typeof earlier === "string") return;
      const { place, items } = earlier;
      yield { id: place.id, input: listOf(items), ids: items.map(({ id }) => id), answer: undefined };
    } finally {
      for (const release of releases) release();
    }
  }

  /** The items of a conversation that preceded its turn; undefined if it was not part of one. */
  async #conversationBefore(
    reader: Reader,
    { conversation }: StoredAnswerHead,
    maxBytes: number,
    take: (bytes: number) => void,
  ): Promise<ConversationHistory | undefined> {
    return conversation && (await this.#options.conversations.before(reader, conversation, maxBytes, take));
  }

  /** The answer, the one that it builds on, and so on, as far as this reader may see them. */
  async #chain(reader: Reader, id: string): Promise<StoredAnswerHead[]> {
    const { storage, clock } = this.#options;
    if (!this.on || !isKeepable(id)) return [];
    const heads = await selectChain(storage, reader.project, id, clock.wallMs(), MAX_TURNS);
    const hidden = heads.findIndex((head) => !isVisible(head, reader));
    return hidden < 0 ? heads : heads.slice(0, hidden);
  }

  /**
   * Passes the answers that hold any of the items, one by one, to `look`, which takes what it needs. Answers beyond
   * `maxBytes` in total are not read.
   */
  async lookForItems(
    reader: Reader,
    itemIds: readonly string[],
    maxBytes: number,
    look: (answer: string) => void,
  ): Promise<void> {
    const { storage, clock } = this.#options;
    const keepable = [...new Set(itemIds)].filter(isKeepable);
    if (!this.on || keepable.length === 0) return;
    const holders = await selectHolders(storage, reader.project, keepable, clock.wallMs());
    // Of the answers that hold the same item, the newest that this reader may see.
    const byItem = new Map(
      holders.filter(({ head }) => isVisible(head, reader)).map(({ itemId, head }) => [itemId, head]),
    );
    const heads = new Map([...byItem.values()].filter(({ state }) => state === "done").map((head) => [head.id, head]));
    let bytes = 0;
    for (const { id, answerLength } of heads.values()) {
      bytes += answerLength;
      if (bytes > maxBytes) return;
      const kept = (await this.#read(reader.project, [id], "answer")).get(id);
      if (kept !== undefined) look(kept.answer);
    }
  }

  /** A page of the listed answers that the reader may see. `take` counts the size of what is read, and may refuse it. */
  async list(
    reader: Reader,
    { after, limit, ...page }: Omit<AnswerPage, "after"> & { after?: string | undefined },
    take: (bytes: number) => void,
  ): Promise<ListedAnswers | "unknown"> {
    const { storage, clock } = this.#options;
    const from = after === undefined ? undefined : await this.#head(reader, after);
    if (after !== undefined && from?.model === undefined) return "unknown";
    if (!this.on) return { answers: [], hasMore: false };
    const found = await listAnswers(storage, reader, { ...page, after: from, limit: limit + 1 }, clock.wallMs());
    const heads = fitting(found.slice(0, limit));
    take(heads.reduce((sum, { answerLength }) => sum + answerLength, 0));
    const ids = heads.map(({ id }) => id);
    const kept = await this.#read(reader.project, ids, "answer");
    const metadata = await selectMetadata(storage, reader.project, ids);
    const answers = ids.flatMap((id) => {
      const answer = kept.get(id)?.answer;
      return answer === undefined ? [] : [{ id, answer, metadata: metadata.get(id) ?? {} }];
    });
    return { answers, hasMore: found.length > heads.length };
  }

  /** What a listed answer can be found by. */
  async metadata({ project }: Reader, id: string): Promise<Readonly<Record<string, string>>> {
    return (await selectMetadata(this.#options.storage, project, [id])).get(id) ?? {};
  }

  /** False if there is no such answer that the reader may see. */
  async setMetadata(reader: Reader, id: string, metadata: Readonly<Record<string, string>>): Promise<boolean> {
    const head = await this.#head(reader, id);
    return head !== undefined && (await replaceMetadata(this.#options.storage, head, metadata));
  }

  /** The owner of an answer in any project, and its model if it is listed; for operators. */
  async owner(id: string): Promise<(Owned & Pick<StoredAnswerHead, "model">) | undefined> {
    const { storage, clock } = this.#options;
    return isKeepable(id) ? await selectAnswerHead(storage, id, clock.wallMs()) : undefined;
  }

  /** `may`: whether the caller may delete it. Deleting needs no key to open it. */
  async delete(project: string, id: string, may: (answer: Owned) => boolean): Promise<boolean> {
    const { storage, clock } = this.#options;
    if (!isKeepable(id)) return false;
    const [head] = await selectChain(storage, project, id, clock.wallMs(), 0);
    return head !== undefined && may(head) && (await deleteAnswer(storage, project, id, clock.wallMs()));
  }

  /** Removes expired answers, and the oldest if the total is too large. Several instances may do so at once. */
  async sweep(): Promise<void> {
    const { storage, clock } = this.#options;
    for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
      if ((await deleteExpiredAnswers(storage, clock.wallMs(), SWEEP_ROWS)) < SWEEP_ROWS) break;
    }
    await this.#trim();
  }

  /** A storage that does not answer must not fill the memory with waiting answers. */
  async #storing<T>(
    { input, answer }: { input?: Uint8Array; answer: Uint8Array },
    store: () => Promise<T>,
  ): Promise<T> {
    const bytes = answer.length + (input?.length ?? 0);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      throw new Error(`${this.#waitingBytes} bytes of responses are already waiting for the storage`);
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
    this.#trim().catch((error: unknown) => this.#options.onProblem(error, "removing old responses failed"));
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

  /** What was written while a slow storage computed the sizes is not included in them. */
  async #trimUntilDone(): Promise<void> {
    const { storage, limits } = this.#options;
    do {
      this.#writtenBytes = 0;
      await trimAnswers(storage, limits.maxBytes);
    } while (this.#trimIsDue);
  }

  async #read(project: string, ids: readonly string[], parts: AnswerParts): Promise<Map<string, KeptAnswer>> {
    const { storage, clock } = this.#options;
    const read = new Map<string, KeptAnswer>();
    for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
      const some = ids.slice(from, from + ROWS_AT_ONCE).filter(isKeepable);
      if (some.length === 0) continue;
      const rows = await selectAnswers(storage, project, some, clock.wallMs(), parts);
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
        answer: answer.length === 0 ? "" : await sealer.open(answer, placeOf(project, id, "answer")),
      };
    } catch (thrown) {
      if (!(thrown instanceof UnreadableSeal)) throw thrown;
      onProblem(thrown, `the stored response ${id} cannot be read: ${KEY_CURE}`);
      return undefined;
    }
  }

  #seal(text: string, project: string, id: string, part: "input" | "answer"): Promise<Uint8Array> {
    const { sealer } = this.#options;
    if (sealer === undefined) throw new Error("responses are not stored");
    return sealer.seal(text, placeOf(project, id, part));
  }
}

/** The first answers, as many as fit on a page; at least one. */
function fitting(heads: readonly StoredAnswerHead[]): readonly StoredAnswerHead[] {
  let bytes = 0;
  const end = heads.findIndex(({ answerLength }, index) => {
    bytes += answerLength;
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end < 0 ? heads : heads.slice(0, end);
}

const listOf = (items: readonly KeptItem[]): string => `[${items.map(({ text }) => text).join(",")}]`;

const KEY_CURE = "every instance on one storage needs the same responses.key in its data_dir";

const placeOf = (project: string, id: string, part: string): string => JSON.stringify([project, id, part]);
