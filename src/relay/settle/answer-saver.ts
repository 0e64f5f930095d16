import type { JsonObject } from "../../base/json.ts";
import { withTimeout } from "../../base/with-timeout.ts";
import type { Owned } from "../../canon/ownership.ts";
import type { StoredAnswers } from "../../dialects/answer/stored-answers.ts";
import type { StoredAnswerHead } from "../../storage/tables/answers.ts";
import type { Gateway } from "../gateway.ts";

/** How long a response waits for slow storage. It is then sent all the same, and stored if the storage recovers in time. */
const SAVE_WAIT_MS = 2_000;
/** No client waits for a background response. It is billed, and there is no other way to get it. */
const INSIST_MS = 600_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

interface KeptCall extends Owned {
  requestId: string;
  /** The items of the request itself, as JSON. */
  own: string;
  /** What it builds on, the latest first. */
  history: readonly StoredAnswerHead[];
}

/** Stores the response of one call. */
export class AnswerSaver {
  readonly call: KeptCall;
  readonly stored: StoredAnswers;
  readonly #gateway: Pick<Gateway, "answers" | "clock" | "log" | "closing">;
  /** Responses by attempt: a hedged call may have two. */
  readonly #taken = new Map<object, JsonObject>();
  /** The gateway's own id, because hosts may use one id twice. */
  readonly answerId: string;
  /** A background response, which is already in storage. */
  pending = false;
  /** It is stored. */
  saved = false;

  constructor(
    call: KeptCall,
    stored: StoredAnswers,
    gateway: Pick<Gateway, "answers" | "clock" | "log" | "random" | "closing">,
  ) {
    this.answerId = stored.makeId(gateway.random.id());
    this.call = call;
    this.stored = stored;
    this.#gateway = gateway;
  }

  /** Takes a response as the client gets it. Only the first of an attempt counts; repeats are the same. */
  take(attempt: object, answer: JsonObject): void {
    if (!this.#taken.has(attempt)) this.#taken.set(attempt, answer);
  }

  /** Stores the attempt's response, or the last one if another attempt completed it. Never fails the call. */
  async save(attempt: object | undefined): Promise<void> {
    const { clock, log } = this.#gateway;
    const answer = (attempt && this.#taken.get(attempt)) ?? [...this.#taken.values()].at(-1);
    if (answer === undefined) return;
    const facts = { request_id: this.call.requestId, response: this.answerId };
    const waitMs = this.pending ? INSIST_MS : SAVE_WAIT_MS;
    const late = () => new Error(`not stored within ${waitMs} ms`);
    try {
      this.saved = await withTimeout(this.#save(answer), waitMs, clock, late);
    } catch (err) {
      log.error({ err, ...facts }, "response was not stored");
    }
  }

  /** False if it was cancelled or deleted meanwhile. */
  async #save(answer: JsonObject): Promise<boolean> {
    const { answers } = this.#gateway;
    const { project, keyId, share, own, history } = this.call;
    const made = {
      id: this.answerId,
      project,
      answer: JSON.stringify(answer),
      itemIds: this.stored.items?.idsOf(answer) ?? [],
    };
    if (this.pending) return await this.#insist(() => answers.end(made, "done"));
    await answers.keep({ ...made, keyId, share, history, input: own });
    return true;
  }

  /** Retries until it is stored, the time is up, or the gateway shuts down. */
  async #insist(store: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#gateway;
    const untilMs = clock.nowMs() + INSIST_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return await store();
      } catch (thrown) {
        if (this.#gateway.closing || clock.nowMs() + pauseMs > untilMs) throw thrown;
        await clock.sleep(pauseMs);
      }
    }
  }
}
