import type { Clock } from "../base/clock.ts";
import { type JsonObject, parseObject } from "../base/json.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { Storage } from "../storage/storage.ts";
import { selectInstances } from "../storage/tables/instances.ts";
import {
  deleteQuestion,
  insertAnswer,
  insertQuestion,
  MAX_ANSWER_CHARACTERS,
  type StoredQuestion,
  selectAnswers,
  selectQuestions,
} from "../storage/tables/questions.ts";

/** Answers a question for this process, from memory. */
type Answerer = (details: JsonObject) => JsonObject;

/** A process that was asked. */
export interface AskedInstance {
  id: string;
  /** Host and process, for people. */
  place: string;
}

/** What all processes say. */
export interface Gathered<Answer> {
  /** The own answer first. */
  answers: readonly { instance: string; answer: Answer }[];
  /** Running processes that have not answered in time, or whose answer cannot be read. */
  unanswered: readonly AskedInstance[];
  /** Why the others could not be asked; undefined if they were. */
  problem: string | undefined;
}

interface Question<Answer> {
  kind: string;
  details: JsonObject;
  /** Reads an answer; undefined if it is invalid. */
  read: (answer: JsonObject) => Answer | undefined;
  /** Whether the other answers make no difference after this one. */
  settles?: (answer: Answer) => boolean;
}

interface QuestionsOptions {
  storage: Storage;
  clock: Clock;
  /** The id of this process. */
  instance: string;
  /** Whether other processes can use this storage. */
  hasOthers: boolean;
  /** Whether a process has certainly ended, by its name. */
  hasEnded: (process: string) => boolean;
  /** The processes that the last heartbeat saw, for when the storage is unavailable. */
  seen: () => readonly AskedInstance[];
  /** Called when a question is stored: those who can be told need not wait for their next poll. */
  onAsked?: () => unknown;
  onProblem: (error: unknown) => void;
}

/** How long answers are awaited. A process that is well sees a question within a quarter of a second. */
const WAIT_MS = 1_500;
const FIRST_LOOK_MS = 100;
const LOOK_MS = 100;

/**
 * Asks all processes that use the same storage. A question is a row. Each process sees it with the poll for changes, and writes
 * one answer. A process that has the storage to itself answers from memory and writes nothing (decision 0129).
 */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #answerers = new Map<string, Answerer>();
  /** The questions up to this number were answered. */
  #seen = 0;
  #answering: Promise<void> | undefined;
  /** Questions in flight that change nothing, by their text: those who ask the same share the answers. */
  readonly #shared = new Map<string, Promise<Gathered<unknown>>>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** How this process answers questions of a kind. */
  answer(kind: string, answerer: Answerer): void {
    this.#answerers.set(kind, answerer);
  }

  /** Asks what changes nothing. Whoever asks the same at the same time gets the same answers. */
  look<Answer>(question: Question<Answer>): Promise<Gathered<Answer>> {
    const name = `${question.kind} ${JSON.stringify(question.details)}`;
    const shared = this.#shared.get(name);
    if (shared !== undefined) return shared as Promise<Gathered<Answer>>;
    const asking = this.ask(question).finally(() => this.#shared.delete(name));
    this.#shared.set(name, asking);
    return asking;
  }

  /** Never rejects because of the storage or of another process. */
  async ask<Answer>(question: Question<Answer>): Promise<Gathered<Answer>> {
    const { instance, hasOthers, seen, clock, onProblem } = this.#options;
    const own = question.read(this.#answerOf(question.kind, question.details));
    const answers: { instance: string; answer: Answer }[] = [];
    if (own !== undefined) answers.push({ instance, answer: own });
    const isSettled = answers.some(({ answer }) => question.settles?.(answer) === true);
    if (!hasOthers || isSettled) return { answers, unanswered: [], problem: undefined };
    const untilMs = clock.nowMs() + WAIT_MS;
    const gathered = new Map<string, Answer>();
    let others = seen().filter(({ id }) => id !== instance);
    let problem: string | undefined;
    try {
      others = await this.#within(untilMs, this.#others());
      if (others.length > 0) await this.#gather(question, others, gathered, untilMs);
    } catch (thrown) {
      onProblem(thrown);
      problem = "The database could not store the question or its answers.";
    }
    for (const [id, answer] of gathered) answers.push({ instance: id, answer });
    const settled = question.settles !== undefined && [...gathered.values()].some(question.settles);
    return { answers, unanswered: settled ? [] : others.filter(({ id }) => !gathered.has(id)), problem };
  }

  async #others(): Promise<AskedInstance[]> {
    const { storage, instance, hasEnded } = this.#options;
    const found = await selectInstances(storage);
    return found
      .filter(({ id, process }) => id !== instance && !hasEnded(process))
      .map(({ id, place }) => ({ id, place }));
  }

  async #gather<Answer>(
    { kind, details, read, settles }: Question<Answer>,
    others: readonly AskedInstance[],
    gathered: Map<string, Answer>,
    untilMs: number,
  ): Promise<void> {
    const { storage, clock, instance } = this.#options;
    const written = insertQuestion(
      storage,
      { asker: instance, kind, details: JSON.stringify(details) },
      clock.wallMs(),
      WAIT_MS,
    );
    const asked = await this.#within(untilMs, written).catch((thrown: unknown) => {
      // A question that is written too late is removed as well, because its answers would not be read.
      void written.then((late) => this.#remove(late)).catch(() => {});
      throw thrown;
    });
    this.#options.onAsked?.();
    try {
      const missing = new Set(others.map(({ id }) => id));
      for (let waitMs = FIRST_LOOK_MS; missing.size > 0 && clock.nowMs() < untilMs; waitMs = LOOK_MS) {
        await clock.sleep(Math.min(waitMs, untilMs - clock.nowMs()));
        // What arrives at the last moment is read with a little more time.
        const rows = await this.#within(untilMs + LOOK_MS, selectAnswers(storage, asked, [...missing], WAIT_MS));
        for (const row of rows) {
          missing.delete(row.instance);
          const object = parseObject(row.answer);
          const answer = object === undefined ? undefined : readSafely(read, object);
          if (answer === undefined) continue;
          gathered.set(row.instance, answer);
          if (settles?.(answer) === true) return;
        }
      }
    } finally {
      void this.#remove(asked);
    }
  }

  /** What remains is removed by the next process that asks. */
  #remove(asked: number): Promise<void> {
    return deleteQuestion(this.#options.storage, asked).catch(this.#options.onProblem);
  }

  #within<Result>(untilMs: number, work: Promise<Result>): Promise<Result> {
    const { clock } = this.#options;
    return withTimeout(work, Math.max(1, untilMs - clock.nowMs()), clock, () => new Error("the database is too slow"));
  }

  /** The poll has read how many questions were asked. Answers those that are new, without delaying the poll. */
  heard(asked: number): void {
    // The counter of a database that was restored starts again.
    if (asked < this.#seen) this.#seen = asked;
    if (asked === this.#seen || this.#answering !== undefined) return;
    this.#answering = this.#answerNew(asked)
      .catch(this.#options.onProblem)
      .finally(() => {
        this.#answering = undefined;
      });
  }

  async #answerNew(upTo: number): Promise<void> {
    const { storage, instance } = this.#options;
    const questions = await selectQuestions(storage, this.#seen);
    // Those that are gone need no answer. If there are some, the next poll looks for more.
    if (questions.length === 0) this.#seen = upTo;
    for (const question of questions) {
      // Marked first: a question that acts must not act twice because its answer could not be written.
      this.#seen = question.number;
      if (question.asker === instance) continue;
      const text = JSON.stringify(this.#answerTo(question));
      const answer = text.length > MAX_ANSWER_CHARACTERS ? "{}" : text;
      await insertAnswer(storage, { question: question.number, instance, answer });
    }
  }

  #answerTo({ kind, details }: StoredQuestion): JsonObject {
    const read = parseObject(details);
    return read === undefined ? {} : this.#answerOf(kind, read);
  }

  /** Empty if it cannot answer: an earlier version does not know every question. */
  #answerOf(kind: string, details: JsonObject): JsonObject {
    try {
      return this.#answerers.get(kind)?.(details) ?? {};
    } catch (thrown) {
      this.#options.onProblem(thrown);
      return {};
    }
  }
}

/** Another version, or anyone with access to the database, may have written something else. */
function readSafely<Answer>(read: (answer: JsonObject) => Answer | undefined, answer: JsonObject): Answer | undefined {
  try {
    return read(answer);
  } catch {
    return undefined;
  }
}
