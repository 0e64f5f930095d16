import type { CallEstimate } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import { allowsModel, checkScopes } from "../../access/scopes.ts";
import type { Billable } from "../../canon/billable.ts";
import { GatewayError } from "../../canon/error.ts";
import { describeValue } from "../../dialects/reading/describe-value.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel } from "../settle/served-model.ts";
import type { AnswerCaching } from "./answer-caching.ts";
import { answerDigest } from "./answer-digest.ts";

const HEADER = "x-trivium-cache";
const MODES = ["use", "refresh", "off"] as const;
/** The digest of a longer request would take too much of a turn of the event loop (S18). */
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

/** What is known of a request before it is admitted. */
interface CacheableRequest {
  readonly read: ReceivedRequest;
  readonly fitted: {
    readonly served: ServedModel;
    readonly request: ReceivedRequest;
    readonly background: boolean;
    readonly saver: object | undefined;
    readonly fallbacks: object | undefined;
    readonly cache: object | undefined;
  };
  readonly billables: readonly Billable[];
  readonly estimate: CallEstimate;
}

interface Caller {
  readonly incoming: IncomingCall;
  readonly principal: Principal;
  readonly routing: CallRouting;
}

/** Undefined if the response is neither stored nor looked up. Throws for an unknown `x-trivium-cache`. */
export async function lookUpAnswer(
  cacheable: CacheableRequest,
  request: Caller,
  gateway: Gateway,
): Promise<AnswerCaching | undefined> {
  const { incoming, principal } = request;
  const settings = principal.answerCache;
  if (settings === undefined) return undefined;
  const mode = readMode(incoming.request.headers);
  if (mode === "off" || !isCacheable(cacheable, request)) return undefined;
  if (!isAllowed(cacheable, request, gateway)) return undefined;
  const digest = digestOf(cacheable, request, gateway);
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

/** Only a response that depends on nothing but its request, and that is text. */
function isCacheable({ read, fitted, billables }: CacheableRequest, { incoming, principal }: Caller): boolean {
  const { dialect, verb, connection } = incoming;
  const { stored, listed, hostedImages, cached } = dialect;
  if (cached === undefined || verb !== "generate" || billables.length > 0) return false;
  if (incoming.line !== undefined || incoming.isFollowUp || incoming.isDone || incoming.isOfGuard) return false;
  if (connection.session !== undefined) return false;
  if (fitted.saver !== undefined || fitted.background || fitted.cache !== undefined) return false;
  if (fitted.fallbacks !== undefined || hostedImages?.read(read.body) !== undefined) return false;
  // What a provider stores can change without the request.
  if (principal.providerObjects && read.mayNameObjects !== false) return false;
  const { model, fallback } = fitted.served;
  const isText = [model, fallback?.model].every(
    (one) => one?.outputModalities.every((kind) => kind === "text") ?? true,
  );
  if (!isText || fitted.request.text.length > MAX_REQUEST_CHARACTERS) return false;
  if (listed?.keeps(read.body)) return false;
  const state = stored?.read(read.body);
  if (state === undefined) return true;
  const { keep, background, previous, conversation, references } = state;
  return !keep && !background && previous === undefined && conversation === undefined && references.length === 0;
}

/** The admission explains why a call is refused. */
function isAllowed({ estimate }: CacheableRequest, { principal }: Caller, { clock }: Gateway): boolean {
  try {
    checkScopes(principal, estimate, clock.wallMs());
    return true;
  } catch {
    return false;
  }
}

function digestOf(
  { fitted }: CacheableRequest,
  { incoming, principal, routing }: Caller,
  { snapshot }: Gateway,
): string {
  const { dialect, door, options, streamInPath } = incoming;
  const { model, offers, calledAs, fallback } = fitted.served;
  return answerDigest(fitted.request.text, dialect.cached?.ignored ?? {}, {
    project: principal.project,
    key: principal.privateObjects ? principal.keyId : undefined,
    dialect: dialect.name,
    door,
    strict: incoming.strict || principal.strict === true,
    options,
    stream: streamInPath ?? fitted.request.body["stream"] === true,
    model: model.id,
    calledAs,
    offers,
    fallback,
    routing,
    guards: snapshot.guards?.inForce(principal, model.id)?.digest,
  });
}
