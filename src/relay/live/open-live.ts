import { withTimeout } from "../../base/with-timeout.ts";
import { GatewayError } from "../../canon/error.ts";
import type { LiveEvent } from "../../canon/live.ts";
import type { FieldNote, OfferTried } from "../../canon/receipt.ts";
import { traitsOf } from "../../catalogue/offer-traits.ts";
import { LIVE_DIALECTS } from "../../dialects/live-dialects.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import { candidatesOf } from "../../routing/candidate.ts";
import type { LiveTarget } from "../../routing/target.ts";
import type { OfferAttempt } from "../attempt/attempted-call.ts";
import { tryOffers } from "../attempt/try-offers.ts";
import type { ClientPresence } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { planCandidates } from "../request/plan-call.ts";
import { lacksTraits, withTraits } from "../require-traits.ts";
import { HostConnection } from "./host-connection.ts";
import { type LiveCaller, laneOf } from "./live-caller.ts";

/** How long a host may take to open a session. A voice application waits no longer. */
const OPENING_MS = 10_000;

/** What a session needs to be opened. */
export interface OpeningSession {
  readonly caller: LiveCaller;
  readonly routing: CallRouting;
  readonly client: Pick<ClientPresence, "disconnected" | "disconnection">;
  /** The client's first frame, if its protocol names the model there. */
  readonly first?: string;
}

/** A session at a host that is ready. */
export interface OpenedSession {
  readonly host: HostConnection;
  /** What the host has sent of it: frames of a native session, events of a translated one. */
  readonly frames: readonly string[];
  readonly events: readonly LiveEvent[];
  /** The attempts that led to it. */
  readonly tried: readonly OfferTried[];
}

/** An attempt to open a session at one target. */
class OpeningAttempt implements OfferAttempt {
  readonly target: LiveTarget;
  readonly lane: { readonly name: "native" | "translated" };
  readonly notes: FieldNote[] = [];
  readonly terms: readonly string[] = [];
  readonly startedAtMs: number;
  readonly #nowMs: () => number;
  host: HostConnection | undefined;

  constructor(target: LiveTarget, caller: LiveCaller, nowMs: () => number) {
    this.target = target;
    this.lane = { name: laneOf(caller, target) };
    this.#nowMs = nowMs;
    this.startedAtMs = nowMs();
  }

  get msSoFar(): number {
    return Math.round(this.#nowMs() - this.startedAtMs);
  }

  close(): void {
    this.host?.terminate();
  }
}

/** Opens a session at the first offer that can. Until then the client has got nothing, so that every failure of an offer is one. */
export async function openLive(opening: OpeningSession, gateway: Gateway): Promise<OpenedSession> {
  const { caller, routing, client } = opening;
  const { model, offers } = caller.resolved;
  refuseGuarded(caller, gateway);
  const all = candidatesOf(gateway.snapshot.targets.live(model, offers), caller.dialect);
  const candidates = withTraits(all, routing.require);
  if (candidates.length === 0) throw lacksTraits(model, routing.require ?? [], caller.principal(), gateway);
  const { targets } = planCandidates({ model, routing }, gateway, candidates);
  const tried: OfferTried[] = [];
  const call = {
    offersTried: tried,
    attempt: undefined as OpeningAttempt | undefined,
    client,
    routing,
    startedAtMs: gateway.clock.nowMs(),
  };
  const begin = (target: LiveTarget) => new OpeningAttempt(target, caller, gateway.clock.nowMs);
  const opened = await tryOffers(call, gateway, targets, begin, (attempt) => openAt(attempt, opening, gateway));
  return { ...opened, tried };
}

/** Speech cannot be held back until a guard has read it, so that a guard that may stop or change texts refuses the session (H57). */
export function refuseGuarded(caller: LiveCaller, { snapshot }: Gateway): void {
  const { model } = caller.resolved;
  const inForce = snapshot.guards?.inForce(caller.principal(), [model.id]);
  if (inForce === undefined) return;
  const acting = [...inForce.request, ...inForce.response].filter(({ settings }) => settings.action !== "observe");
  const names = [...new Set(acting.map(({ settings }) => settings.name))];
  if (names.length === 0) return;
  const message =
    `Guards (${names.join(", ")}) check the texts of ${model.id} for this key, and cannot check a spoken session. ` +
    "Use another protocol, or exclude the key or the model from these guards (guards[].for).";
  throw new GatewayError("forbidden", message, { code: "guarded" });
}

async function openAt(attempt: OpeningAttempt, opening: OpeningSession, gateway: Gateway) {
  const { target } = attempt;
  const { provider, offer } = target;
  const limitMs = Math.min(provider.timeoutMs.firstByte, OPENING_MS);
  const late = () => new GatewayError("upstream_timeout", `The provider opened no session within ${limitMs} ms.`);
  const work = async () => {
    const { url, headers, model } = await provider.liveEndpoint(target.via, offer.upstreamModel);
    const { clock, random, connect } = gateway;
    const codec = LIVE_DIALECTS[target.via].upstream({
      upstreamModel: model,
      traits: traitsOf(target.model, offer),
      quirks: provider.liveQuirks(target.via),
      makeId: () => random.id(),
      nowMs: clock.nowMs,
      clientDialect: opening.caller.dialect,
    });
    const host = new HostConnection(target, codec, { connect, url, headers, model });
    attempt.host = host;
    await host.open;
    return attempt.lane.name === "native" ? openNative(host, opening) : openTranslated(host);
  };
  try {
    return await withTimeout(work(), limitMs, gateway.clock, late);
  } catch (thrown) {
    attempt.close();
    throw thrown;
  }
}

async function openNative(host: HostConnection, { caller, first }: OpeningSession) {
  if (first !== undefined) host.send([LIVE_DIALECTS[caller.dialect].nativeCommand(first, host.model)]);
  const frames: string[] = [];
  for (;;) {
    const frame = await host.next();
    const { events } = host.codec.decode(frame);
    frames.push(frame);
    if (isReady(events)) return { host, frames, events };
  }
}

async function openTranslated(host: HostConnection) {
  const events: LiveEvent[] = [...host.carry(host.codec.open()).events];
  while (!isReady(events)) events.push(...host.carry(host.codec.decode(await host.next())).events);
  return { host, frames: [], events };
}

/** Throws if the host has refused the session. */
function isReady(events: readonly LiveEvent[]): boolean {
  for (const event of events) if (event.type === "error") throw event.error;
  return events.some(({ type }) => type === "ready");
}
