import type { AnswerMark } from "../../answers/cached-answer.ts";
import { isObject } from "../../base/json.ts";
import type { AnswerPath, CachedAnswers } from "../../dialects/answer/cached-answers.ts";

/** One JSON document of a response. */
interface Piece {
  readonly start: number;
  readonly text: string;
}

/** Finds the ids and times of a response or a stream. Undefined if it is in no known form. */
export function markAnswer(text: string, { ids, times }: CachedAnswers): AnswerMark[] | undefined {
  const marks: AnswerMark[] = [];
  for (const piece of piecesOf(text)) {
    let parsed: unknown;
    try {
      parsed = JSON.parse(piece.text);
    } catch {
      return undefined;
    }
    const found = new Map<string, AnswerMark["is"]>();
    // A stream may be one array of its events.
    for (const document of Array.isArray(parsed) ? parsed : [parsed]) {
      for (const path of ids) addMember(found, document, path, "id");
      for (const path of times) addMember(found, document, path, "time");
    }
    for (const [member, is] of found) addMarks(marks, piece, member, is);
  }
  return marks.sort((one, other) => one.start - other.start);
}

/** The data of each event, or the whole text if it is no event stream. */
function* piecesOf(text: string): Generator<Piece> {
  if (text.startsWith("{") || text.startsWith("[")) {
    yield { start: 0, text };
    return;
  }
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const data = DATA.exec(text.slice(at, end));
    if (data !== null) yield { start: at + data[1]!.length, text: data[2]! };
    at = end + 1;
  }
}

const DATA = /^(data: ?)(\{.*\})\r?$/s;

/** Members are compared with their values: what a model wrote may have a member of the same name. */
function addMember(found: Map<string, AnswerMark["is"]>, document: unknown, path: AnswerPath, is: "id" | "time"): void {
  let value: unknown = document;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  const member = JSON.stringify(path.at(-1));
  if (typeof value === "string" && value !== "") {
    found.set(JSON.stringify([member, JSON.stringify(value)]), is === "id" ? "id" : "timestamp");
  } else if (is === "time" && typeof value === "number") found.set(JSON.stringify([member, String(value)]), "seconds");
}

/** A quoted key in front of a colon cannot be inside a string, where its quotes would be escaped. */
function addMarks(marks: AnswerMark[], { start, text }: Piece, member: string, is: AnswerMark["is"]): void {
  const [key, value] = JSON.parse(member) as [string, string];
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length)) {
    const from = afterColon(text, at + key.length);
    if (from === undefined || !text.startsWith(value, from)) continue;
    const quote = is === "seconds" ? 0 : 1;
    marks.push({ start: start + from + quote, end: start + from + value.length - quote, is });
  }
}

const COLON = /\s*:\s*/y;

function afterColon(text: string, from: number): number | undefined {
  COLON.lastIndex = from;
  return COLON.test(text) ? COLON.lastIndex : undefined;
}
