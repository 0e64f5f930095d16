import type { ConversationPlace, WriteTurn } from "../../answers/stored-conversations.ts";
import type { JsonObject } from "../../base/json.ts";
import { withTimeout } from "../../base/with-timeout.ts";
import type { Owned } from "../../canon/ownership.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import type { ListedAnswers } from "../../dialects/answer/listed-answers.ts";
import type { StoredAnswers } from "../../dialects/answer/stored-answers.ts";
import type { StoredAnswerHead } from "../../storage/tables/answers.ts";
import type { Gateway } from "../gateway.ts";

/** How long a response waits for slow storage. It is then sent all the same, and stored if the storage recovers in time. */
const SAVE_WAIT_MS = 2_000;
/**
 * No client waits for a background response. It is billed, and there is no other way to get it. A turn of a conversation is stored
 * before its client has the whole response: the next turn builds on it, and would not know that it is missing.
 */
const INSIST_MS = 600_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

interface KeptCall extends Owned {
  /** The gateway's own id for the response, because hosts may use one id twice. */
  id: string;
  requestId: string;
  /** The items of the request itself, as JSON. */
  own: string;
  /** What it builds on, the latest first. */
  history: readonly StoredAnswerHead[];
  /** The response itself is stored; otherwise only its turn of a conversation. */
  isKept: boolean;
  /** The conversation that it is a turn of. */
  conversation?: ConversationPlace | undefined;
  /** What a listed response can be found by. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** What the protocol knows about its responses. */
type AnswerForm = Pick<StoredAnswers, "items" | "conversations"> & Partial<Pick<ListedAnswers, "modelOf">>;

type Saving = Pick<Gateway, "answers" | "storedConversations" | "clock" | "log" | "closing">;

/** Stores the response of one call. */
export class AnswerSaver {
  readonly call: KeptCall;
  readonly #form: AnswerForm;
  readonly #gateway: Saving;
  /** Responses by attempt: a hedged call may have two. */
  readonly #taken = new Map<object, JsonObject>();
  /** A background response, which is already in storage. */
  pending = false;
  /** It is stored. */
  saved = false;
  /** What the request asked for and did not get, because the storage did not answer. */
  loss: FieldNote | undefined;

  constructor(call: KeptCall, form: AnswerForm, gateway: Saving) {
    this.call = call;
    this.#form = form;
    this.#gateway = gateway;
  }

  /** Whether it is stored before anybody has it, however long that takes. */
  get insists(): boolean {
    return this.pending || this.call.conversation !== undefined;
  }

  /** The id that the response must have. */
  get answerId(): string {
    return this.call.id;
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
    const { insists } = this;
    const waitMs = insists ? INSIST_MS : SAVE_WAIT_MS;
    const late = () => new Error(`not stored within ${waitMs} ms`);
    const store = this.#storing(answer);
    try {
      this.saved = await withTimeout(insists ? this.#insist(store) : store(), waitMs, clock, late);
    } catch (err) {
      log.error({ err, ...facts }, "response was not stored");
      const path = this.call.conversation === undefined ? "store" : "conversation";
      this.loss = { path, action: "dropped", reason: "the gateway's storage did not answer in time" };
    }
  }

  /** Stores it once, however often it is called. False if it was cancelled or deleted meanwhile. */
  #storing(answer: JsonObject): () => Promise<boolean> {
    const { answers, storedConversations } = this.#gateway;
    const { project, keyId, share, own, history, conversation, metadata, isKept } = this.call;
    const made = {
      id: this.answerId,
      project,
      answer: JSON.stringify(answer),
      itemIds: this.#form.items?.idsOf(answer) ?? [],
    };
    let turn: { write: WriteTurn | undefined } | undefined;
    return async () => {
      turn ??= { write: await this.#turn(answer) };
      const writeTurn = turn.write;
      if (this.pending) return await answers.end({ ...made, writeTurn }, "done");
      if (isKept) {
        const listed = metadata && { model: this.#form.modelOf?.(answer) ?? "", metadata };
        await answers.keep({ ...made, keyId, share, history, input: own, conversation, listed, writeTurn });
      } else if (writeTurn !== undefined) await storedConversations.append(writeTurn);
      return true;
    };
  }

  /** What the response adds to its conversation, to be written with it; undefined if it is not part of one. */
  async #turn(answer: JsonObject): Promise<WriteTurn | undefined> {
    const { project, own, conversation } = this.call;
    const items = conversation && this.#form.conversations?.itemsOf(own, answer);
    return items && (await this.#gateway.storedConversations.prepareTurn(project, conversation, items));
  }

  /** Retries until it is stored or the time is up. A gateway that shuts down cuts off clients, and leaves background responses. */
  async #insist(store: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#gateway;
    const untilMs = clock.nowMs() + INSIST_MS;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return await store();
      } catch (thrown) {
        const isLeft = this.pending && this.#gateway.closing;
        if (isLeft || clock.nowMs() + pauseMs > untilMs) throw thrown;
        await clock.sleep(pauseMs);
      }
    }
  }
}
