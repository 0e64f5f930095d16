import { isObject, type JsonObject } from "../../base/json.ts";
import type { LongTexts } from "../../wire/long-texts.ts";

/** Where a dialect's requests hold the start that all requests of a conversation share. */
export interface ConversationFields {
  /** The fields before the turns: instructions and tools. */
  readonly before: readonly string[];
  readonly turns: string;
}

/** Instructions may be among the turns. Nothing after this many turns is examined. */
const MAX_TURNS = 8;
/** A prompt may be large: this many pieces are examined and, of each text, its length, start and end. */
const MAX_PIECES = 256;
const MAX_PIECE = 256;

/** Cache marks move as a conversation grows, so they do not identify it. */
const MOVING = "cache_control";

/** The conversation that a request belongs to. */
export interface Conversation {
  /** Shared by the requests of a conversation, and almost always different from other conversations. */
  readonly key: bigint | number;
  /** Whether it began with an earlier request. Only then can a host have its prompt cached. */
  readonly continues: boolean;
}

/**
 * Identified by the instructions, the tools and the turns up to the first user turn. `scope` separates conversations that share
 * nothing. `texts`: those of an outline.
 */
export function conversationOf(
  body: JsonObject,
  { before, turns }: ConversationFields,
  scope: string,
  texts?: LongTexts,
): Conversation {
  const pieces = [scope];
  for (const field of before) addPieces(body[field], pieces, texts);
  const all = body[turns];
  const list = Array.isArray(all) ? all : [all];
  let begun = 0;
  for (const turn of list.slice(0, MAX_TURNS)) {
    addPieces(turn, pieces, texts);
    begun++;
    if (isObject(turn) && (turn["role"] === "user" || turn["type"] === "user_input")) break;
  }
  return { key: Bun.hash(pieces.join("\n")), continues: list.length > begun };
}

function addPieces(root: unknown, pieces: string[], texts: LongTexts | undefined): void {
  const waiting: unknown[] = [root];
  while (waiting.length > 0 && pieces.length < MAX_PIECES) {
    const value = waiting.pop();
    if (typeof value === "string") pieces.push(pieceOf(texts?.whole(value) ?? value));
    else if (Array.isArray(value)) for (let index = value.length - 1; index >= 0; index--) waiting.push(value[index]);
    else if (isObject(value)) for (const key in value) if (key !== MOVING) waiting.push(value[key]);
  }
}

const pieceOf = (text: string): string =>
  text.length <= 2 * MAX_PIECE ? text : `${text.length} ${text.slice(0, MAX_PIECE)} ${text.slice(-MAX_PIECE)}`;
