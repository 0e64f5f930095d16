import type { JsonObject } from "../base/json.ts";
import { withTimeout } from "../base/with-timeout.ts";
import type { StoredAnswers } from "../dialects/stored-answers.ts";
import type { AnswerHead } from "../storage/answers.ts";
import type { Gateway } from "./gateway.ts";

/** How long an answer waits for a slow storage. It is then sent all the same, and is kept if the storage comes back in time. */
const SAVE_WAIT_MS = 2_000;

interface KeptCall {
  project: string;
  requestId: string;
  /** The list of items that the request brought itself, as JSON. */
  own: string;
  /** What it builds on, the latest first. */
  history: readonly AnswerHead[];
}

/** The answer of one call on its way into the storage. */
export class Keeping {
  readonly call: KeptCall;
  readonly stored: StoredAnswers;
  readonly #gateway: Pick<Gateway, "answers" | "clock" | "log">;
  /** By the attempts that gave them: with a hedge there may be two. */
  readonly #taken = new Map<object, JsonObject>();
  /** The id that the answer has from its beginning, where it is made in the background. */
  answerId: string | undefined;
  /** It is in the storage. */
  saved = false;

  constructor(call: KeptCall, stored: StoredAnswers, gateway: Pick<Gateway, "answers" | "clock" | "log">) {
    this.call = call;
    this.stored = stored;
    this.#gateway = gateway;
  }

  /** Takes an answer as the client gets it. The first of an attempt counts: what is written again of it is the same. */
  take(attempt: object, answer: JsonObject): void {
    if (!this.#taken.has(attempt)) this.#taken.set(attempt, answer);
  }

  /** Keeps what that attempt gave; of an answer that another has finished, what was given last. Never fails the call. */
  async save(attempt: object | undefined): Promise<void> {
    const { clock, log } = this.#gateway;
    const answer = (attempt && this.#taken.get(attempt)) ?? [...this.#taken.values()].at(-1);
    const identity = answer && this.stored.identify(answer);
    if (identity === undefined) return;
    const { requestId: request_id } = this.call;
    const late = () => new Error(`the storage did not take it within ${SAVE_WAIT_MS} ms`);
    try {
      this.saved = await withTimeout(this.#save(identity, JSON.stringify(answer)), SAVE_WAIT_MS, clock, late);
      // One that is made in the background may have been cancelled meanwhile.
      if (!this.saved && this.answerId === undefined)
        log.warn({ request_id, response: identity.id }, "response not kept: its id was used before");
    } catch (err) {
      log.error({ err, request_id, response: identity.id }, "response not kept");
    }
  }

  #save({ id, itemIds }: { id: string; itemIds: string[] }, answer: string): Promise<boolean> {
    const { answers } = this.#gateway;
    const { project, own, history } = this.call;
    if (this.answerId !== undefined) return answers.end({ id: this.answerId, project, answer, itemIds }, "done");
    return answers.keep({ id, project, history, input: own, answer, itemIds });
  }
}
