import type { Entry } from "../../access/admit.ts";
import { AS_REQUEST } from "../../access/entries/holds.ts";
import type { Principal } from "../../access/principal.ts";
import { whenShared } from "../../access/share-refusal.ts";
import { ClientPresence, type IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { CallTimer } from "../settle/call-timer.ts";
import { requireLedger } from "./keep-intent.ts";
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
  requireLedger(incoming, gateway);
  const { cause } = incoming;
  const client = new ClientPresence(request, connection, gateway.watchdog, cause?.call.client);
  const timer = new CallTimer(gateway.clock.nowMs, startedAtMs);
  try {
    const entry =
      enterAlone(incoming, principal, gateway) ?? (await enterShared(principal, startedAtMs, incoming, gateway));
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
function enterAlone({ sessionWork, cause, line }: IncomingRequest, principal: Principal, { admissions }: Gateway) {
  if (sessionWork === "refused" || cause?.kind === "check")
    return admissions.enterDone(cause?.call.principal ?? principal);
  return (
    line?.enter() ??
    (cause || sessionWork === "late" ? admissions.enterWork(principal, cause?.call.admission) : undefined)
  );
}

async function enterShared(
  principal: Principal,
  atMs: number,
  { sessionWork }: IncomingRequest,
  { admissions, clock }: Gateway,
): Promise<Entry> {
  const counting = sessionWork === "beside" ? WITHOUT_SLOT : AS_REQUEST;
  try {
    return admissions.enter(principal, atMs, counting);
  } catch (refusal) {
    return whenShared(refusal, () => admissions.enter(principal, undefined, counting), clock.nowMs);
  }
}

const WITHOUT_SLOT = { ...AS_REQUEST, takesSlot: false };

/** Releases what a request holds that does not become a call. */
export function leaveRequest({ entry, memory, client }: EnteredRequest): void {
  entry.leave();
  memory.release();
  client.release();
}
