import { GatewayError } from "../../canon/error.ts";
import { holdsMoreItems } from "../../wire/json-items.ts";
import { holdsMoreValues } from "../../wire/json-values.ts";

/**
 * Limits of one response besides its bytes (S18). No model comes close to them. They keep the work for a response within short
 * turns of the event loop, or limit what is kept of it.
 */
const MAX_CALLS = 1024;
/** Also limits candidates. */
const MAX_CHOICES = 128;
/** Texts, thoughts, calls, citations and everything else that a response lists; in a translated stream, blocks and citations. */
const MAX_ITEMS = 10_000;
/** Events of a stream that are read one by one. Runs of ordinary deltas are forwarded as bytes and do not count. */
const MAX_EVENTS = 1_000_000;
const MAX_EVENT_VALUES = 250_000;
/** More than in an event: a response may have log probabilities of several thousand tokens. */
const MAX_ANSWER_VALUES = 1_000_000;
/** Tokens and their alternatives in a translated stream: in some protocols the last event holds all of them. */
const MAX_LOGPROBS = 350_000;

/** Shorter text cannot hold that many items. */
const FEW_ITEMS_LENGTH = 4 * MAX_ITEMS;
/** Lists that do not count: log probabilities have an entry for each token, and call arguments are forwarded unchanged. */
const UNCOUNTED: ReadonlySet<string> = new Set(["logprobs", "logprobsResult", "args", "input", "arguments"]);

const tooMany = (most: number, what: string) =>
  new GatewayError("upstream_failed", `The provider sent more than ${most} ${what}.`);

export function requireFewCalls(count: number): void {
  if (count > MAX_CALLS) throw tooMany(MAX_CALLS, "tool calls in one response");
}

export function requireFewChoices(count: number): void {
  if (count > MAX_CHOICES) throw tooMany(MAX_CHOICES, "choices in one response");
}

export function requireFewBlocks(count: number): void {
  if (count > MAX_ITEMS) throw tooMany(MAX_ITEMS, "blocks and citations in one response");
}

export function requireFewEvents(count: number): void {
  if (count > MAX_EVENTS) throw tooMany(MAX_EVENTS, "events in one response");
}

/** Only events with an image are long, or events that should not exist. */
export function requireSmallEvent(data: string): void {
  if (data.length <= FEW_ITEMS_LENGTH) return;
  if (holdsMoreValues(data, MAX_EVENT_VALUES)) throw tooMany(MAX_EVENT_VALUES, "JSON values in one event");
  if (holdsMoreItems(data, MAX_ITEMS, UNCOUNTED)) throw tooMany(MAX_ITEMS, "items in one event");
}

export function requireSmallAnswer(text: string): void {
  if (text.length <= FEW_ITEMS_LENGTH) return;
  if (holdsMoreValues(text, MAX_ANSWER_VALUES)) throw tooMany(MAX_ANSWER_VALUES, "JSON values in one response");
  if (holdsMoreItems(text, MAX_ITEMS, UNCOUNTED)) throw tooMany(MAX_ITEMS, "items in one response");
}

/** Arguments are a string in the JSON of a response, so their values have not been counted. */
export function requireSmallArguments(text: string): void {
  if (holdsMoreValues(text, MAX_EVENT_VALUES))
    throw tooMany(MAX_EVENT_VALUES, "JSON values in the arguments of one tool call");
}

/** Values in call arguments that arrive in pieces and are assembled in one turn. */
export function requireFewPieces(count: number): void {
  if (count > MAX_ITEMS) throw tooMany(MAX_ITEMS, "argument pieces in one tool call");
}

export function requireFewLogprobs(count: number): void {
  if (count > MAX_LOGPROBS) throw tooMany(MAX_LOGPROBS, "log probabilities in one response");
}
