import type { Principal } from "../../access/principal.ts";
import { checkScopes } from "../../access/scopes.ts";
import type { LiveDialectName } from "../../canon/dialect-name.ts";
import type { Naming, Resolved } from "../../catalogue/catalogue.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import type { LiveDialect } from "../../dialects/live-dialect.ts";
import { LIVE_DIALECTS } from "../../dialects/live-dialects.ts";
import { readRouting } from "../../dialects/reading/read-routing.ts";
import type { ClientPresence } from "../../relay/call.ts";
import { keptHeaders, OF_SESSION } from "../../relay/derived/kept-headers.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { type LiveCaller, laneOf } from "../../relay/live/live-caller.ts";
import { billedOffer, withoutPricedModels } from "../../relay/live/live-kind.ts";
import { openLive } from "../../relay/live/open-live.ts";
import { checkBilling } from "../../relay/request/check-billing.ts";
import { resolveRouting } from "../../relay/request/resolve-routing.ts";
import { incomingOf } from "../incoming-request.ts";
import { namingOf } from "../naming.ts";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { headersOfTurns } from "./open-session.ts";
import { RelayedSession } from "./relayed-session.ts";

/** The client of a session, once its handshake is authenticated. */
export interface RelayedClient {
  readonly id: string;
  readonly release: () => void;
  /** The principal now; throws if it may not call any more. */
  readonly caller: () => Principal;
  readonly principal: Principal;
  readonly dialect: LiveDialectName;
  /** It speaks the beta of its protocol. */
  readonly isOlder: boolean;
  readonly model: string;
  /** The client's first frame, if its protocol names the model there. */
  readonly first?: string;
  /** Frames as if the client had sent them first. */
  readonly commands?: readonly string[];
}

interface Context {
  readonly gateway: Gateway;
  readonly live: LiveSessions;
  readonly publicUrl: ServerContext["publicUrl"];
}

/** Opens a session at a host for an authenticated client. Everything that can be refused is refused here. */
export async function beginRelayed(
  routed: RoutedRequest,
  client: RelayedClient,
  presence: Pick<ClientPresence, "disconnected" | "disconnection">,
  { gateway, live: sessions, publicUrl }: Context,
): Promise<RelayedSession> {
  const { request, connection } = routed;
  const { principal, first, commands } = client;
  keptHeaders(incomingOf(routed), principal, OF_SESSION, gateway);
  const naming = namingOf(routed);
  const resolved = gateway.snapshot.catalogue.resolve(client.model, naming);
  const { model } = resolved;
  checkScopes(principal, { model: model.id, dialect: client.dialect }, gateway.clock.wallMs());
  const protocol = LIVE_DIALECTS[client.dialect];
  const live = callerOf(routed, client, { resolved, naming, publicUrl });
  checkFrames(protocol, live, [...(first === undefined ? [] : [first]), ...(commands ?? [])], gateway);
  const wanted = readRouting({}, request.headers);
  const routing = resolveRouting(
    wanted,
    { incoming: { naming, dialect: live.incoming.dialect }, principal, model },
    gateway,
  );
  const opening = { caller: live, routing, client: presence };
  const opened = await openLive(first === undefined ? opening : { ...opening, first }, gateway);
  const { clock, random, snapshot } = gateway;
  const by = {
    id: client.id,
    caller: client.caller,
    address: connection.address,
    protocol: client.dialect,
    release: client.release,
    principal,
    live,
    dialect: protocol,
    client: protocol.client({
      sessionId: client.id,
      model: routed.door === "dropin" ? resolved.calledAs : model.id,
      expiresAtSeconds: Math.floor((clock.wallMs() + snapshot.live.sessionMs) / 1000),
      makeId: () => random.id(),
      native: laneOf(live, opened.host.target) === "native",
      beta: client.isOlder,
    }),
    strict: live.incoming.strict,
  };
  const start = { ...(first === undefined ? {} : { first }), ...(commands === undefined ? {} : { commands }) };
  return new RelayedSession(by, opened, { start, gateway, sessions });
}

/** The client as the calls of its turns see it. The key is in none of their URLs and headers. */
export function callerOf(
  routed: RoutedRequest,
  { id, caller, principal, dialect, isOlder }: RelayedClient,
  { resolved, naming, publicUrl }: { resolved: Resolved; naming: Naming; publicUrl: () => string },
): LiveCaller {
  const { request, requestId, connection, door } = routed;
  const { origin, pathname } = new URL(request.url, publicUrl());
  const incoming = {
    ...incomingOf(routed),
    request: new Request(`${origin}${pathname}`, { headers: withoutKeys(headersOfTurns(request)) }),
    requestId,
    connection: {
      address: connection.address,
      session: id,
      shown: principal,
      trusted: true,
      hold: () => {},
      rest: () => {},
      hangUp: () => {},
    },
    dialect: named(routed.dialect, dialect),
    door,
    naming,
  };
  return {
    principal: (isRefused) => (isRefused ? principal : caller()),
    incoming,
    dialect,
    isOlder,
    resolved,
  };
}

/** The dialect of errors over HTTP, under the name by which keys and receipts know the protocol. */
const named = (dialect: Dialect, name: LiveDialectName): Dialect => ({ ...dialect, name });

function withoutKeys(headers: Headers): Headers {
  for (const name of ["authorization", "x-api-key", "x-goog-api-key", "api-key"]) headers.delete(name);
  return headers;
}

/** Refuses what no offer could be asked for, before a host is reached. */
export function checkFrames(
  protocol: LiveDialect,
  live: LiveCaller,
  frames: readonly string[],
  gateway: Gateway,
): void {
  const billables = frames.flatMap((frame) => protocol.check(frame)?.billables ?? []);
  const { model, offers } = live.resolved;
  const caller = { principal: live.principal(), door: live.incoming.door };
  const { targets, catalogue } = gateway.snapshot;
  for (const target of targets.live(model, offers))
    checkBilling(withoutPricedModels(billables, target, catalogue), caller, [billedOffer(live, target)], gateway);
}

/** A client that may disconnect before its session is open. */
export class OpeningPresence implements Pick<ClientPresence, "disconnected" | "disconnection"> {
  readonly #gone = Promise.withResolvers<void>();
  disconnected = false;

  constructor(signal?: AbortSignal) {
    if (signal?.aborted) this.leave();
    else signal?.addEventListener("abort", () => this.leave(), { once: true });
  }

  get disconnection(): Promise<void> {
    return this.#gone.promise;
  }

  leave(): void {
    this.disconnected = true;
    this.#gone.resolve();
  }
}
