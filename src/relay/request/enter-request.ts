import type { Entry } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { whenShared } from "../../access/share-refusal.ts";
import { ClientPresence, type IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { CallTimer } from "../settle/call-timer.ts";
import { cannotStore } from "./keep-intent.ts";
import type { HeldMemory } from "./memory-budget.ts";

/** An authenticated request, counted before its body is read (S17). */
export interface EnteredRequest {
  readonly startedAtMs: number;
  readonly timer: CallTimer;
  readonly principal: Principal;
  readonly client: ClientPresence;
  readonly entry: Entry;
  readonly memory: HeldMemory;
}

/** Throws for an unknown key and for one over its limits. Waits briefly if other processes hold the rest of a limit. */
export async function enterRequest(incoming: IncomingRequest, gateway: Gateway): Promise<EnteredRequest> {
  const { request, connection, credential } = incoming;
  const startedAtMs = gateway.clock.nowMs();
  const found = incoming.principal ?? gateway.keys.identify(credential ?? "", connection);
  const principal = found instanceof Promise ? await found : found;
  if (gateway.ledger.full) throw cannotStore();
  const { cause } = incoming;
  const client = new ClientPresence(request, connection, gateway.watchdog, cause?.call.client);
  const timer = new CallTimer(gateway.clock.nowMs, startedAtMs);
  try {
    const entry = enterAlone(incoming, principal, gateway) ?? (await enterShared(principal, startedAtMs, gateway));
    // Requests of the caller that are in memory must not make a check fail.
    const owner =
      cause?.kind === "check" ? { keyId: `check ${principal.keyId}`, keyName: principal.keyName } : principal;
    return { startedAtMs, timer, principal, client, entry, memory: gateway.memory.open(owner) };
  } catch (refusal) {
    client.release();
    throw refusal;
  }
}

/** Without a place among the calls in flight, and without counting as a request; undefined for what a client has sent. */
function enterAlone({ isDone, cause, line }: IncomingRequest, principal: Principal, { admissions }: Gateway) {
  if (isDone || cause?.kind === "check") return admissions.enterDone(cause?.call.principal ?? principal);
  return line?.enter() ?? (cause && admissions.enterWork(principal, cause.call.admission));
}

async function enterShared(principal: Principal, atMs: number, { admissions, clock }: Gateway): Promise<Entry> {
  try {
    return admissions.enter(principal, atMs);
  } catch (refusal) {
    return whenShared(refusal, () => admissions.enter(principal), clock.nowMs);
  }
}

/** Releases what a request holds that does not become a call. */
export function leaveRequest({ entry, memory, client }: EnteredRequest): void {
  entry.leave();
  memory.release();
  client.release();
}
