import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { ReceivedRequest } from "../received-request.ts";

/** What a request says of answers that are kept. */
export interface StateWords {
  /** Its answer is to be kept. */
  keep: boolean;
  /** Its answer is to be made in the background, and fetched later. */
  background: boolean;
  /** The answer that it builds on. */
  previous: string | undefined;
  /** The items that it names instead of repeating them. */
  references: readonly string[];
}

/** What was found of what a request names. All texts are JSON. */
export interface FoundState {
  /** Of each turn that it builds on, the first one first: the list of items that came in, and the answer. */
  turns: readonly { input: string; answer: string }[];
  /** By their ids. */
  items: ReadonlyMap<string, string>;
}

/** One turn of a conversation, as far as its items are input of the answer that is looked at. Texts are JSON. */
export interface InputTurn {
  /** That of the turn's own answer. */
  id: string;
  input: string;
  /** Absent for the answer that is looked at: its output is not its input. */
  answer: string | undefined;
}

/** One page of the items that an answer was made from. */
export interface InputPage {
  /** `asc`: the turns are wanted from the first on. */
  readonly order: "asc" | "desc";
  /** How long it is by now. */
  readonly characters: number;
  /** Takes the next turn in its order; false where the page is full. */
  take(turn: InputTurn): boolean;
  encode(): string;
}

/** A request with everything in it that it names. */
export interface ExpandedRequest {
  request: ReceivedRequest;
  /** The list of items that it brought itself, as JSON: what is kept of it. */
  own: string;
}

/** Why an answer cannot be built on. */
export type PreviousFault = "missing" | "pending" | "failed" | "cancelled" | "too_large";

/** What an answer has around its output, before there is any. */
interface PendingContext {
  id: string;
  model: string;
  createdAtSeconds: number;
  /** It is being made; else it waits. */
  begun: boolean;
}

/**
 * How a protocol names and shows answers that are kept: its fields and its words. The rest of the gateway keeps texts, and knows
 * neither. Absent from the dialects whose requests always say everything.
 */
export interface StoredAnswers {
  /** The request has passed the dialect's check. */
  read(body: JsonObject): StateWords;
  /** Items that are named and were not found are left out, and noted. */
  expand(request: ReceivedRequest, found: FoundState): ExpandedRequest;
  /** The ids of the items in an answer. */
  itemIds(answer: JsonObject): string[];
  /** The items of an answer by their ids. */
  itemsOf(answer: string): Map<string, string>;
  /** What is wrong with the answer that a request builds on; `at`: which one of its history is at fault. */
  refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError;
  /** The items that a request names are together too large for one. */
  refuseReferences(): GatewayError;
  /** No answer of that id is kept for this key. */
  notFound(id: string): GatewayError;
  /** A request for the background whose answer is not kept. */
  refuseBackground(): GatewayError;
  /** How a client wants to see an answer: as a stream of the events after a number, where it says so. */
  readShow(query: URLSearchParams): { after: number } | undefined;
  /** The events of that answer are not there any more, or never were. */
  refuseStream(id: string): GatewayError;
  /** The number of an event of a stream. */
  numberOf(event: object): number | undefined;
  /** Whether a stream has come to its end with this event, good or bad. */
  hasEnded(last: JsonObject | undefined): boolean;
  /** What went wrong, where the last event of a stream says so; undefined where it is a proper end. */
  failureIn(last: JsonObject | undefined): GatewayError | undefined;
  /** Where the stream of an answer stands that failed before its end, for the events that say so. */
  positionOf(pending: string, number: number): unknown;
  /** What a client reads of a deleted answer. */
  encodeDeleted(id: string): string;
  /** Opens the page of items that a query asks for, of those that an answer was made from. Throws where the query asks for none. */
  openPage(query: URLSearchParams): InputPage;
  /** An id for an answer, of these letters and digits. */
  makeId(random: string): string;
  /** An answer that is to be made in the background. */
  encodePending(body: JsonObject, context: PendingContext): string;
  /** What has become of it, where that is not an answer. */
  encodeFailed(pending: string, error: GatewayError): string;
  encodeCancelled(pending: string): string;
  /** The answer is not being made, and cannot be ended. */
  refuseCancel(id: string): GatewayError;
}
