import type { CallEstimate } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { allowsModel, checkScopes } from "../../access/scopes.ts";
import { GatewayError } from "../../canon/error.ts";
import { describeValue } from "../../dialects/reading/describe-value.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { AnswerCaching } from "./answer-caching.ts";

const HEADER = "x-trivium-cache";
const MODES = ["use", "refresh", "off"] as const;
const MEGABYTE = 1024 * 1024;

/** A request whose response may be cached. */
interface KnownRequest {
  readonly incoming: IncomingRequest;
  readonly principal: Principal;
  readonly estimate: CallEstimate;
  /** Undefined if its response cannot be cached. */
  readonly digest: () => string | undefined;
}

/** Undefined if the response is neither stored nor looked up. Throws for an unknown `x-trivium-cache`. */
export async function findAnswer(
  { incoming, principal, estimate, digest: makeDigest }: KnownRequest,
  gateway: Gateway,
): Promise<AnswerCaching | undefined> {
  const settings = principal.answerCache;
  if (settings === undefined) return undefined;
  const mode = readMode(incoming.request.headers);
  if (mode === "off" || !isOrdinary(incoming) || !isAllowed(estimate, principal, gateway)) return undefined;
  const digest = makeDigest();
  if (digest === undefined) return undefined;
  const { project } = principal;
  const place = { project, digest, ttlMs: settings.ttlSeconds * 1000, maxBytes: settings.maxMb * MEGABYTE };
  const { answerCache } = gateway;
  const found = mode === "refresh" ? undefined : await answerCache.look(place);
  if (mode === "use" && found === undefined) answerCache.counts.misses++;
  // It may come from a fallback model, which this key may not use any more.
  return { place, found: found !== undefined && allowsModel(principal, found.model) ? found : undefined };
}

function readMode(headers: Headers): (typeof MODES)[number] {
  const text = headers.get(HEADER);
  if (text === null) return "use";
  const word = text.trim().toLowerCase();
  const mode = MODES.find((known) => known === word);
  if (mode !== undefined) return mode;
  const message = `${HEADER} must be ${MODES.slice(0, -1).join(", ")} or ${MODES.at(-1)}; it is ${describeValue(text)}.`;
  throw new GatewayError("invalid_request", message, { path: HEADER });
}

/** A client waits for its response, and it is a call of its own. */
const isOrdinary = ({ line, cause, connection }: IncomingRequest): boolean =>
  line === undefined && cause === undefined && connection.session === undefined;

/** The admission explains why a call is refused. */
function isAllowed(estimate: CallEstimate, principal: Principal, { clock }: Gateway): boolean {
  try {
    checkScopes(principal, estimate, clock.wallMs());
    return true;
  } catch {
    return false;
  }
}
