import type { CallEstimate } from "../../access/admit.ts";
import type { Principal } from "../../access/principal.ts";
import type { Billable } from "../../canon/billable.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { CachedAnswers } from "../../dialects/answer/cached-answers.ts";
import type { CallRouting } from "../../routing/call-routing.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { AnswerCaching } from "./answer-caching.ts";
import { answerDigest } from "./answer-digest.ts";
import { findAnswer } from "./find-answer.ts";

/** The digest of a longer request would take too much of a turn of the event loop (S18). */
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024;

interface CacheableRequest {
  readonly read: { readonly sent: { readonly text: string } };
  readonly fitted: { readonly served: Resolved };
  readonly billables: readonly Billable[];
  readonly estimate: CallEstimate;
}

interface Caller {
  readonly incoming: IncomingRequest;
  readonly principal: Principal;
  readonly routing: CallRouting;
}

/** The stored response to a request for a service whose result depends on nothing but its request. */
export const lookUpServiceAnswer = (
  cacheable: CacheableRequest,
  caller: Caller,
  gateway: Gateway,
  form: CachedAnswers,
): Promise<AnswerCaching | undefined> =>
  findAnswer(
    {
      incoming: caller.incoming,
      principal: caller.principal,
      estimate: cacheable.estimate,
      digest: () => digestOf(cacheable, caller, gateway, form),
    },
    gateway,
  );

function digestOf(
  { read, fitted, billables }: CacheableRequest,
  { incoming, principal, routing }: Caller,
  { snapshot }: Gateway,
  { ignored }: CachedAnswers,
): string | undefined {
  const { text } = read.sent;
  if (billables.length > 0 || text.length > MAX_REQUEST_CHARACTERS) return undefined;
  const { model, offers, calledAs } = fitted.served;
  const { pathname, search } = new URL(incoming.request.url);
  return answerDigest(text, ignored, {
    project: principal.project,
    key: principal.privateObjects ? principal.keyId : undefined,
    dialect: incoming.dialect.name,
    door: incoming.door,
    strict: incoming.strict || principal.strict === true,
    // A protocol may have several endpoints for a service.
    options: [pathname, search],
    stream: false,
    model,
    calledAs,
    offers,
    fallback: undefined,
    routing,
    guards: snapshot.guards?.inForce(principal, [model.id])?.digest,
  });
}
