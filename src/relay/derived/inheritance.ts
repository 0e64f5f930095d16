import type { Principal } from "../../access/principal.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { Call, CausingCall, IncomingRequest, Kind } from "../call.ts";

/** Inherited, or why it is not. */
type Rule = "inherited" | { readonly own: string };
type Rules = { readonly [Made in Kind]: Rule };
type RulesOf<Of> = { readonly [Field in keyof Required<Of>]: Rules };

const INHERITED = { work: "inherited", check: "inherited" } as const;
const own = (reason: string) => ({ work: { own: reason }, check: { own: reason } }) as const;
const exceptCheck = (reason: string) => ({ work: "inherited", check: { own: reason } }) as const;

/** The fields of a request. A new field does not compile until it is listed. */
export const INCOMING = {
  request: own("another body; the headers are those of its cause, for a check only those of the trace"),
  requestId: INHERITED,
  connection: own("the response as a whole holds the client's connection"),
  credential: exceptCheck("the caller does not ask the question"),
  principal: own("that of the cause, for a check as PRINCIPAL says"),
  dialect: INHERITED,
  door: exceptCheck("the gateway writes the question"),
  modelInPath: own("it calls a model of its own"),
  naming: own("the gateway names some models itself"),
  cause: own("its cause"),
  sessionWork: own("it is work for one call"),
  line: exceptCheck("its receipt stands even if the line is run again"),
  strict: exceptCheck("the caller could make it fail"),
  tags: INHERITED,
} as const satisfies RulesOf<IncomingRequest>;

type HandedOver = {
  readonly [Field in keyof Required<Call>]: Field extends keyof CausingCall ? typeof INHERITED : ReturnType<typeof own>;
};

/** What a call hands over when it causes another (`CausingCall`). */
export const CALL = {
  incoming: INHERITED,
  principal: INHERITED,
  admission: INHERITED,
  routing: INHERITED,
  client: INHERITED,
  startedAtMs: INHERITED,
  trace: INHERITED,
  guards: INHERITED,
  receiptId: own("it has its own receipt"),
  model: own("it may call another model"),
  modelInAnswer: own("the response as a whole names the model"),
  request: own("another request"),
  body: own("another request"),
  outline: own("another request"),
  stream: own("a check is never streamed"),
  timer: own("its own time is measured"),
  billables: own("those of its own request"),
  adapted: own("those of its own request"),
  memory: own("its own share"),
  offersTried: own("its own attempts"),
  capture: own("it is captured under its own receipt, if the key's bodies are; a check never"),
  conversation: own("that of its own model"),
  plan: own("its own attempts"),
  continued: own("its own attempts"),
  otherLegs: own("its own attempts"),
  earlierNotes: own("its own attempts"),
  saver: own("the response as a whole is stored, once"),
  cache: own("only the request of its cause names it"),
  keeper: own("a part of a response answers no other request"),
  hedged: own("its own attempts"),
  outrunOthers: own("its own attempts"),
  attempt: own("its own attempts"),
} as const satisfies HandedOver;

/** Work has the whole principal. */
export const PRINCIPAL = {
  keyId: INHERITED,
  keyName: INHERITED,
  project: INHERITED,
  maker: INHERITED,
  limits: INHERITED,
  levels: INHERITED,
  parts: INHERITED,
  tags: INHERITED,
  user: INHERITED,
  discounts: INHERITED,
  subject: INHERITED,
  models: exceptCheck("the operator chose the model, whatever the key may call"),
  protocols: exceptCheck("the operator chose the protocol"),
  expiresAtMs: exceptCheck("the call was admitted"),
  strict: exceptCheck("the caller could make it fail"),
  routing: exceptCheck("the caller could make it fail"),
  networks: exceptCheck("the gateway asks, not the client"),
  scopes: exceptCheck("it calls one model and nothing else"),
  capture: exceptCheck("the request that it is about is captured as it was sent"),
  providerObjects: exceptCheck("it names no objects"),
  privateObjects: exceptCheck("it stores nothing"),
  answerCache: exceptCheck("every text is checked"),
  unpriced: exceptCheck("the operator chose the model, whatever is known of its price"),
} as const satisfies RulesOf<Principal>;

export const ROUTING = {
  preference: exceptCheck("the caller could make it fail"),
  survive: exceptCheck("it has no stream"),
  hedge: exceptCheck("the caller does not pay twice for it"),
  maxAttempts: exceptCheck("the caller could make it fail"),
  require: exceptCheck("the caller could make it fail"),
  deadlineMs: INHERITED,
  auto: exceptCheck("its model is known"),
} as const satisfies RulesOf<CallRouting>;

type InheritedIn<Table extends Record<string, Rules>, Made extends Kind> = {
  [Field in keyof Table]: Table[Field][Made] extends "inherited" ? Field : never;
}[keyof Table];

/** What a call of this kind must be given, because it does not inherit it. */
export type OwnOf<Made extends Kind> = Omit<IncomingRequest, InheritedIn<typeof INCOMING, Made> | "cause">;

/** The fields of an object that a call of this kind inherits, by the table of such objects. */
export function inherit<Table extends Record<string, Rules>, Made extends Kind, Of extends object>(
  table: Table,
  kind: Made,
  from: Of,
): Pick<Of, InheritedIn<Table, Made> & keyof Of> {
  const kept = Object.entries(from).filter(([field]) => table[field]?.[kind] === "inherited");
  return Object.fromEntries(kept) as Pick<Of, InheritedIn<Table, Made> & keyof Of>;
}
