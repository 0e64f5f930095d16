import type { TSchema } from "typebox";
import { isObject, type JsonObject } from "../src/base/json.ts";
import { type DialectName, UPSTREAM_DIALECT_NAMES, type UpstreamDialectName } from "../src/canon/dialect-name.ts";
import { GatewayError } from "../src/canon/error.ts";
import type { FieldNote } from "../src/canon/receipt.ts";
import { ChatRequest } from "../src/dialects/chat/schema/request.ts";
import type { EncodedRequest } from "../src/dialects/codec.ts";
import { GenerateContentRequest } from "../src/dialects/genai/schema/request.ts";
import { InteractionsRequest } from "../src/dialects/interactions/schema/request.ts";
import { MessagesRequest } from "../src/dialects/messages/schema/request.ts";
import type { SchemaNode } from "../src/dialects/reading/schema-node.ts";
import { ResponsesRequest } from "../src/dialects/responses/schema/request.ts";
import { parseInOrder } from "../src/wire/ordered-json.ts";
import type { SampleRequest } from "../testing/sample-requests.ts";
import { checkedRequest, TARGETS, translate, wireText } from "../testing/translate-sample.ts";
import { isTagAt, meaningOf } from "./fields-apart.ts";
import { type Member, membersOf } from "./schema-paths.ts";

export const REQUEST_SCHEMAS: Readonly<Record<DialectName, SchemaNode>> = {
  chat: nodeOf(ChatRequest),
  messages: nodeOf(MessagesRequest),
  genai: nodeOf(GenerateContentRequest),
  responses: nodeOf(ResponsesRequest),
  interactions: nodeOf(InteractionsRequest),
};

function nodeOf(schema: TSchema): SchemaNode {
  return schema as SchemaNode;
}

/**
 * `exact`: the request to the target depends on the field, and no note says otherwise. `approximated`, `dropped`: a note of
 * the receipt says so. `gateway`: the gateway itself honours it. `tag`: it has no meaning apart from its neighbours.
 * `lost`: nothing depends on it and it is not reported (H09).
 */
export type Outcome = "exact" | "approximated" | "dropped" | "gateway" | "tag" | "lost";

interface OutcomeAt {
  outcome: Outcome;
  reasons: readonly string[];
}

export interface FieldOutcome {
  dialect: DialectName;
  sample: string;
  member: Member;
  /** The kind of an object, or another field without a meaning of its own. */
  isTag: boolean;
  /** Refused at the contract door; the drop-in door accepts it. */
  dropInOnly: boolean;
  at: Readonly<Record<UpstreamDialectName, OutcomeAt>>;
}

/** The outcome of every member of a request at a typical target of each dialect. */
export async function outcomesOf({ dialect, name, text }: SampleRequest): Promise<FieldOutcome[]> {
  const body = parseInOrder(text) as JsonObject;
  const whole = await encodings(dialect, checkedRequest(dialect, text, "dropin"));
  const outcomes: FieldOutcome[] = [];
  for (const member of judged(dialect, membersOf(REQUEST_SCHEMAS[dialect], body))) {
    const meaning = meaningOf(dialect, member);
    const others = meaning === "gateway" ? [] : await variants(dialect, body, member, whole);
    const at = Object.fromEntries(
      UPSTREAM_DIALECT_NAMES.map((target) => [
        target,
        outcomeAt(
          member,
          whole[target],
          others.map((other) => other[target]),
          meaning ?? (isTagAt(dialect, member, target) ? "tag" : undefined),
        ),
      ]),
    ) as Record<UpstreamDialectName, OutcomeAt>;
    outcomes.push({
      dialect,
      sample: name,
      member,
      isTag: meaning === "tag",
      dropInOnly: isDropInOnly(dialect, body, member),
      at,
    });
  }
  return outcomes;
}

/** More values than this would show nothing new. */
const MAX_VARIANTS = 3;

type Encodings = Record<UpstreamDialectName, EncodedRequest>;

async function encodings(dialect: DialectName, body: JsonObject): Promise<Encodings> {
  const made: Partial<Encodings> = {};
  for (const target of UPSTREAM_DIALECT_NAMES) made[target] = await translate(dialect, body, TARGETS[target]);
  return made as Encodings;
}

/** The request without the member, and with another value for it: as many of the two as the contract allows. */
async function variants(
  dialect: DialectName,
  body: JsonObject,
  member: Member,
  whole: Encodings,
): Promise<Encodings[]> {
  const made: Encodings[] = [];
  const isClear = () =>
    UPSTREAM_DIALECT_NAMES.every((target) => made.some((other) => differ(whole[target], other[target])));
  for (const value of [undefined, ...otherValues(member)]) {
    const other = await accepted(dialect, changed(body, member.keys, value));
    if (other !== undefined) made.push(other);
    if (made.length >= MAX_VARIANTS || isClear()) break;
  }
  return made;
}

async function accepted(dialect: DialectName, body: unknown): Promise<Encodings | undefined> {
  try {
    return await encodings(dialect, checkedRequest(dialect, wireText(body), "dropin"));
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** An object says what its members say, unless each of those only says what kind of object it is: then it is that kind. */
function judged(dialect: DialectName, members: readonly Member[]): Member[] {
  return members.flatMap((member) => {
    const inner = members.filter((other) => holds(member.path, other.path));
    if (inner.some((other) => meaningOf(dialect, other) !== "tag")) return [];
    const [kind] = inner;
    return [kind === undefined ? member : { ...member, schemaPath: kind.schemaPath.replace(/\.\w+$/, "") }];
  });
}

/** A copy in which one member has another value, or is not there. */
function changed(value: unknown, [key, ...rest]: readonly (string | number)[], put: unknown): unknown {
  if (key === undefined) return put;
  if (Array.isArray(value))
    return value.map((item, index) => (index === key ? changed(item, rest, put) : (item as unknown)));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([name, child]): [string, unknown][] => {
    if (name !== key) return [[name, child]];
    return rest.length === 0 && put === undefined ? [] : [[name, changed(child, rest, put)]];
  });
  return Object.fromEntries(entries);
}

function otherValues(member: Member): unknown[] {
  return candidates(member).filter((other) => other !== member.value);
}

function candidates({ value, nodes }: Member): unknown[] {
  const words = nodes.flatMap((node) => node.enum ?? (node.const === undefined ? [] : [node.const]));
  const otherWords = words.filter((word) => word !== value);
  if (typeof value === "string")
    return [...otherWords, `x${value}`, `${value}x`, value.replace(/\d/, (digit) => String((Number(digit) + 1) % 10))];
  if (typeof value === "number") return [value + 1, value - 1, value / 2];
  if (typeof value === "boolean") return [!value];
  if (Array.isArray(value)) return [value.slice(0, -1), [...(value as unknown[]), value.at(-1)], ...otherWords];
  return otherWords;
}

function outcomeAt(
  member: Member,
  whole: EncodedRequest,
  others: readonly EncodedRequest[],
  meaning: "gateway" | "tag" | undefined,
): OutcomeAt {
  if (meaning === "gateway") return { outcome: "gateway", reasons: [] };
  const reported = whole.notes.filter(({ path }) => concerns(path, member.path));
  // A value may be honoured in that another value would have been reported as a change.
  const differs = others.some((other) => differ(whole, other) || reportedAnew(member, whole, other));
  const reasons = [...new Set(reported.map(({ reason }) => reason))];
  if (reported.length === 0) {
    // Where the contract allows no other value, a field has nothing to say.
    const silent = others.length === 0 ? "tag" : "lost";
    return { outcome: differs ? "exact" : (meaning ?? silent), reasons };
  }
  return { outcome: reportedOutcome(reported, differs), reasons };
}

/** What is reported as approximated, but leaves no trace in the request, is in fact dropped. */
function reportedOutcome(reported: readonly FieldNote[], differs: boolean): "approximated" | "dropped" {
  if (!differs) return "dropped";
  return reported.some(({ action }) => action === "approximated") ? "approximated" : "dropped";
}

const differ = (one: EncodedRequest, other: EncodedRequest): boolean =>
  wireText([one.body, one.reading]) !== wireText([other.body, other.reading]);

const reportedAnew = (member: Member, whole: EncodedRequest, other: EncodedRequest): boolean =>
  other.notes.some(
    (note) =>
      concerns(note.path, member.path) &&
      !whole.notes.some(({ path, reason }) => path === note.path && reason === note.reason),
  );

/** A note is about a field where it names it, something that holds it, or something in it. */
const concerns = (note: string, path: string): boolean => note === path || holds(note, path) || holds(path, note);

const holds = (outer: string, inner: string): boolean =>
  inner.startsWith(outer) && (inner[outer.length] === "." || inner[outer.length] === "[");

/** Contract 2.12 lists fields that it does not accept; the drop-in door does. */
function isDropInOnly(dialect: DialectName, body: JsonObject, { keys, value }: Member): boolean {
  const [key] = keys;
  if (keys.length !== 1 || typeof key !== "string") return false;
  const { model, messages, contents } = body;
  const alone =
    dialect === "genai" ? { contents, [key]: value } : { model, max_tokens: 100_000, messages, [key]: value };
  if (dialect === "chat" && key !== "max_tokens") Reflect.deleteProperty(alone, "max_tokens");
  try {
    checkedRequest(dialect, wireText(alone), "contract");
    return false;
  } catch (error) {
    if (error instanceof GatewayError) return error.kind === "unsupported_parameter";
    throw error;
  }
}
