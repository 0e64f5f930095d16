import type { Admission, Entry } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import { ShareRefusal, whenShared } from "../access/share-refusal.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { CallRouting } from "../routing/call-routing.ts";
import { type Call, ClientPresence, type IncomingRequest } from "./call.ts";
import { CallTimer } from "./call-timer.ts";
import type { Gateway } from "./gateway.ts";
import { type AskedFor, cannotStore, keepIntent } from "./keep-intent.ts";
import type { HeldMemory } from "./memory-budget.ts";

/** A request from the moment that it is known who sends it: counted before it is read (S17). */
export interface EnteredRequest {
  readonly startedAtMs: number;
  readonly timer: CallTimer;
  readonly principal: Principal;
  readonly client: ClientPresence;
  readonly entry: Entry;
  readonly memory: HeldMemory;
}

/** Throws for a stranger, and for a key that sends too much. Waits a moment where other processes hold what is left of a limit. */
export function enterRequest(incoming: IncomingRequest, gateway: Gateway): EnteredRequest | Promise<EnteredRequest> {
  const { request, connection, credential } = incoming;
  const startedAtMs = gateway.clock.nowMs();
  const principal = incoming.principal ?? gateway.keys.authenticate(credential ?? "", connection);
  if (gateway.ledger.full) throw cannotStore();
  const client = new ClientPresence(request, connection, gateway.watchdog);
  const timer = new CallTimer(gateway.clock.nowMs, startedAtMs);
  try {
    const entry = gateway.admissions.enter(principal, startedAtMs);
    return { startedAtMs, timer, principal, client, entry, memory: gateway.memory.open(principal) };
  } catch (refusal) {
    if (refusal instanceof ShareRefusal)
      return enterShared(refusal, { startedAtMs, timer, principal, client }, gateway);
    client.release();
    throw refusal;
  }
}

async function enterShared(
  refusal: ShareRefusal,
  waiting: Pick<EnteredRequest, "startedAtMs" | "timer" | "principal" | "client">,
  { admissions, memory, clock }: Gateway,
): Promise<EnteredRequest> {
  const { principal, client } = waiting;
  try {
    const entry = await whenShared(refusal, () => admissions.enter(principal), clock.nowMs);
    return { ...waiting, entry, memory: memory.open(principal) };
  } catch (last) {
    client.release();
    throw last;
  }
}

/** Gives back what a request had taken that does not become a call. */
export function leaveRequest({ entry, memory, client }: EnteredRequest): void {
  entry.leave();
  memory.release();
  client.release();
}

/** What every call has from its admission on. Its settlement gives back what it has taken. */
type Admitted = Pick<
  Call,
  | "receiptId"
  | "principal"
  | "admission"
  | "startedAtMs"
  | "timer"
  | "client"
  | "memory"
  | "offersTried"
  | "trace"
  | "routing"
  | "conversation"
  | "plan"
  | "continued"
  | "hedged"
> & { attempt: undefined };

/**
 * Has a request read and admitted. From here on there is a receipt; a request that is turned away has none. Where intents are kept,
 * `askedFor` is asked what the call is, and its row is on a disk before anything else happens.
 */
export async function admitCall<
  Incoming extends IncomingRequest,
  Asked extends { admission: Admission; routing: CallRouting },
>(
  incoming: Incoming,
  gateway: Gateway,
  read: (entered: EnteredRequest) => Promise<Asked>,
  askedFor: (asked: Asked, incoming: Incoming) => AskedFor,
): Promise<{ admitted: Admitted; asked: Asked }> {
  const entering = enterRequest(incoming, gateway);
  const entered = entering instanceof Promise ? await entering : entering;
  let asked: Asked;
  try {
    asked = await read(entered);
  } catch (refusal) {
    leaveRequest(entered);
    throw refusal;
  }
  gateway.runningCalls++;
  const { startedAtMs, timer, principal, client, memory } = entered;
  const { admission, routing } = asked;
  const receiptId = RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id();
  if (gateway.intents) {
    try {
      await keepIntent({ receiptId, principal, admission, incoming }, askedFor(asked, incoming), gateway);
    } catch (refusal) {
      gateway.runningCalls--;
      admission.release({ costNanoUsd: 0, tokens: 0 });
      leaveRequest(entered);
      throw refusal;
    }
  }
  const admitted = {
    receiptId,
    principal,
    admission,
    startedAtMs,
    timer,
    client,
    memory,
    offersTried: [],
    trace: gateway.tracing?.begin(incoming.request.headers),
    routing,
    conversation: undefined,
    plan: undefined,
    continued: undefined,
    hedged: false,
    attempt: undefined,
  };
  return { admitted, asked };
}
