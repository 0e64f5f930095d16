import { type JsonObject, stringAt } from "../../../base/json.ts";
import { findValue, ObjectEdit } from "../../../wire/json-text.ts";
import type { ExpandedRequest, FoundState, StateWords } from "../../answer/stored-answers.ts";
import type { ReceivedRequest } from "../../received-request.ts";
import { CONTENT_TYPES } from "../schema/content.ts";

export const readState = (body: JsonObject): StateWords => ({
  keep: body["store"] !== false,
  background: body["background"] === true,
  previous: stringAt(body, "previous_interaction_id"),
  references: [],
});

/**
 * Puts the history before the request's own steps. Texts are concatenated without parsing them, so that each step keeps its original bytes
 * (H05).
 */
export function expand(request: ReceivedRequest, { turns }: FoundState): ExpandedRequest {
  const span = findValue(request.text, ["input"]);
  const raw = span === undefined ? "" : request.text.slice(span.start, span.end);
  const own = ownSteps(request.body["input"], raw);
  if (turns.length === 0) return { request, own };
  const history = turns.flatMap(({ input, answer }) => [input, stepsOf(answer)]);
  const input = `[${[...history, own].map(withoutBrackets).filter(Boolean).join(",")}]`;
  const text =
    span === undefined
      ? new ObjectEdit(request.text).set("input", input).toString()
      : request.text.slice(0, span.start) + input + request.text.slice(span.end);
  const adapted = request.adapted ?? [];
  return { request: { text, body: { ...request.body, input: JSON.parse(input) as unknown }, adapted }, own };
}

const CONTENT: ReadonlySet<string | undefined> = new Set(CONTENT_TYPES);

/** A request's own input as a list of steps: text and content are the user's. */
function ownSteps(input: unknown, raw: string): string {
  if (typeof input === "string") return userStep(`[{"type":"text","text":${raw}}]`);
  if (Array.isArray(input)) return CONTENT.has(stringAt(input[0], "type")) ? userStep(raw) : raw;
  return raw === "" ? "[]" : userStep(`[${raw}]`);
}

const userStep = (content: string): string => `[{"type":"user_input","content":${content}}]`;

/** The list of steps in an interaction. */
function stepsOf(answer: string): string {
  const span = findValue(answer, ["steps"]);
  return span === undefined ? "[]" : answer.slice(span.start, span.end);
}

const withoutBrackets = (list: string): string => list.trim().slice(1, -1).trim();
