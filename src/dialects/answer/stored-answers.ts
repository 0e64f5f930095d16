import type { JsonObject } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { ReceivedRequest } from "../received-request.ts";

/** What a request says about stored responses. */
export interface StateWords {
  /** Its response is to be stored. */
  keep: boolean;
  /** Its response is to be made in the background and fetched later. */
  background: boolean;
  /** The response that it continues. */
  previous: string | undefined;
  /** The conversation that it is a turn of, and where it names it. Absent if the protocol has none. */
  conversation?: { id: string; path: string } | undefined;
  /** The items that it refers to instead of repeating them. */
  references: readonly string[];
}

/** What was found of what a request refers to. All texts are JSON. */
export interface FoundState {
  /** Each turn that it continues, oldest first: the list of input items, and the response. */
  turns: readonly { input: string; answer: string }[];
  /** By id. */
  items: ReadonlyMap<string, string>;
}

/** One turn of a conversation, as far as its items are input of the response in question. Texts are JSON. */
export interface InputTurn {
  /** The id of the turn's own response. */
  id: string;
  input: string;
  /** The ids of its items, if they may lack their own. */
  ids?: readonly string[];
  /** Absent for the response in question: its output is not its input. */
  answer: string | undefined;
}

/** One page of the items that a response was made from. */
export interface InputPage {
  /** `asc`: turns are listed from the first on. */
  readonly order: "asc" | "desc";
  /** Its length so far. */
  readonly characters: number;
  /** Takes the next turn in order; false if the page is full. */
  take(turn: InputTurn): boolean;
  encode(): string;
}

/** A request with everything that it refers to filled in. */
export interface ExpandedRequest {
  request: ReceivedRequest;
  /** The items that it contained itself, as JSON, which is what is stored. */
  own: string;
}

/** An item of a conversation. Its text is JSON. */
export interface TurnItem {
  text: string;
  /** Its own id, if it has one. */
  id: string | undefined;
  /** What an id begins with that is made for it. */
  prefix: string;
}

/** Conversations that requests name, in protocols that have them. */
interface ConversationTurns {
  /** The items that a turn adds to its conversation: those of the request, as JSON, and those of its response. */
  itemsOf(own: string, answer: JsonObject): TurnItem[];
  /** The error for a conversation that a request cannot use. `empty`: neither has any item. */
  refuse(named: { id: string; path: string }, fault: "missing" | "too_large" | "empty"): GatewayError;
}

/** Why a response cannot be continued. */
export type PreviousFault = "missing" | "pending" | "failed" | "cancelled" | "too_large";

/** The parts of a response around its output, before there is any. */
interface PendingContext {
  id: string;
  model: string;
  createdAtSeconds: number;
  /** It is being made; otherwise it is queued. */
  begun: boolean;
}

/** The items of responses, in protocols that give them ids. */
interface StoredItems {
  /** The ids of the items in a response. */
  idsOf(answer: JsonObject): string[];
  /** The items of a response by id. */
  read(answer: string): Map<string, string>;
  /** The items that a request refers to are together too large. */
  refuseReferences(): GatewayError;
  /** Opens the page of input items that a query selects. Throws if the query is invalid. */
  openPage(query: URLSearchParams): InputPage;
}

/**
 * How a protocol names and shows stored responses: its fields and messages. The rest of the gateway stores text and knows
 * neither. Absent from dialects whose requests are always complete.
 */
export interface StoredAnswers {
  /** The request has passed the dialect's check. */
  read(body: JsonObject): StateWords;
  /** Items that were not found are dropped and noted. */
  expand(request: ReceivedRequest, found: FoundState): ExpandedRequest;
  /** Items that requests can refer to and list; absent if the protocol has neither. */
  readonly items?: StoredItems;
  /** Absent if the protocol has no conversations. */
  readonly conversations?: ConversationTurns;
  /** Whether the protocol made this id. Responses of other protocols cannot be continued or shown. */
  isId(id: string): boolean;
  /** The error for a response that cannot be continued; `at`: which response of its history is the cause. */
  refusePrevious(id: string, fault: PreviousFault, at: string): GatewayError;
  /** No response with that id is stored for this key. */
  notFound(id: string): GatewayError;
  /** A background request whose response is not stored. */
  refuseBackground(): GatewayError;
  /** How a client wants to see a response: as a stream of the events after a number, if requested. */
  readShow(query: URLSearchParams): { after: number } | undefined;
  /** The response as the query asks for it, from its stored text and that of its input. Absent: as stored. */
  show?(answer: string, input: string, query: URLSearchParams): string;
  /** The events of that response are no longer available, or never were. */
  refuseStream(id: string): GatewayError;
  /** The sequence number of an event. */
  numberOf(event: object): number | undefined;
  /** Whether this event ended a stream, successfully or not. */
  hasEnded(last: JsonObject | undefined): boolean;
  /** The error in the last event of a stream; undefined if it is a proper end. */
  failureIn(last: JsonObject | undefined): GatewayError | undefined;
  /** The stream position of a response that failed before its end, for the events that report it. */
  positionOf(pending: string, number: number): unknown;
  /** The body for a deleted response. */
  encodeDeleted(id: string): string;
  /** Makes the id of a response from random letters and digits. */
  makeId(random: string): string;
  /** A response that is to be made in the background. */
  encodePending(body: JsonObject, context: PendingContext): string;
  /** The result, if it is not a response. */
  encodeFailed(pending: string, error: GatewayError): string;
  encodeCancelled(pending: string): string;
  /** The response is not in progress, so it cannot be cancelled. */
  refuseCancel(id: string): GatewayError;
}
