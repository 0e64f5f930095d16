import type { CallEstimate } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import type { Billable } from "../../canon/billable.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServedModel } from "../settle/served-model.ts";
import type { AnswerCaching } from "./answer-caching.ts";
import { answerDigest } from "./answer-digest.ts";
import { findAnswer } from "./find-answer.ts";

/** The digest of a longer request would take too much of a turn of the event loop (S18). */
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024;

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

/** The stored response to a text request. */
export const lookUpAnswer = (
  cacheable: CacheableRequest,
  caller: Caller,
  gateway: Gateway,
): Promise<AnswerCaching | undefined> =>
  findAnswer(
    {
      incoming: caller.incoming,
      principal: caller.principal,
      estimate: cacheable.estimate,
      digest: () => (isCacheable(cacheable, caller) ? digestOf(cacheable, caller, gateway) : undefined),
    },
    gateway,
  );

/** Only a response that depends on nothing but its request, and that is text. */
function isCacheable({ read, fitted, billables }: CacheableRequest, { incoming, principal }: Caller): boolean {
  const { dialect, verb } = incoming;
  const { stored, listed, hostedImages, cached } = dialect;
  if (cached === undefined || verb !== "generate" || billables.length > 0) return false;
  if (cached.asksOthers?.(fitted.request.body) === true) return false;
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
    model,
    calledAs,
    offers,
    fallback,
    routing,
    guards: snapshot.guards?.inForce(principal, fallback === undefined ? [model.id] : [model.id, fallback.model.id])
      ?.digest,
  });
}
