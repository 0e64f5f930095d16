import { isObject, type JsonObject } from "../../base/json.ts";

/** Where a request of a dialect holds the beginning that all requests of one conversation share. */
export interface ConversationFields {
  /** What stands before the turns: instructions and tools. */
  readonly before: readonly string[];
  readonly turns: string;
}

/** Instructions may stand among the turns; behind so many of them nothing is looked at. */
const MAX_TURNS = 8;
/** A prompt may be large: so much of it is looked at, and of each text its length, its beginning and its end. */
const MAX_PIECES = 256;
const MAX_PIECE = 256;

/** Marks of what to cache move along with a conversation, so they say nothing of its beginning. */
const MOVING = "cache_control";

/** The conversation that a request belongs to. */
export interface Conversation {
  /** What its requests have in common, and those of other conversations have not, nearly always. */
  readonly key: bigint | number;
  /** Whether it has begun with an earlier request: only then can somebody hold its prompt cache. */
  readonly continues: boolean;
}

/**
 * Known by the instructions, the tools and the turns up to the first of the user. `scope` keeps those apart that share nothing.
 */
export function conversationOf(body: JsonObject, { before, turns }: ConversationFields, scope: string): Conversation {
  const pieces = [scope];
  for (const field of before) addPieces(body[field], pieces);
  const all = body[turns];
  const list = Array.isArray(all) ? all : [all];
  let begun = 0;
  for (const turn of list.slice(0, MAX_TURNS)) {
    addPieces(turn, pieces);
    begun++;
    if (isObject(turn) && turn["role"] === "user") break;
  }
  return { key: Bun.hash(pieces.join("\n")), continues: list.length > begun };
}

function addPieces(root: unknown, pieces: string[]): void {
  const waiting: unknown[] = [root];
  while (waiting.length > 0 && pieces.length < MAX_PIECES) {
    const value = waiting.pop();
    if (typeof value === "string") pieces.push(pieceOf(value));
    else if (Array.isArray(value)) for (let index = value.length - 1; index >= 0; index--) waiting.push(value[index]);
    else if (isObject(value)) for (const key in value) if (key !== MOVING) waiting.push(value[key]);
  }
}

const pieceOf = (text: string): string =>
  text.length <= 2 * MAX_PIECE ? text : `${text.length} ${text.slice(0, MAX_PIECE)} ${text.slice(-MAX_PIECE)}`;
