import type { Principal } from "../../access/principal.ts";
import { stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Billable } from "../../canon/billable.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import type { ObjectFields } from "../../dialects/reading/object-fields.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { objectId, parseObjectId } from "../../objects/object-id.ts";
import type { TextTarget } from "../../routing/target.ts";
import { ObjectEdit } from "../../wire/json-text.ts";
import type { ObjectIds } from "../attempt/with-own-id.ts";
import type { Gateway } from "../gateway.ts";

/** The cache that a call reads, at the credential that holds it. */
export interface HeldCache {
  readonly ids: ObjectIds;
  /** Where the request names it. */
  readonly path: string;
  /** The public id of its model. */
  readonly model: string;
  readonly provider: string;
  /** A digest. */
  readonly credential: string;
  /** Part of the prompt, though not of the request. */
  readonly tokens: number;
  /** What its tools may cost. */
  readonly billables: readonly Billable[];
}

/** Whether a request may read a cache of this gateway. Most do not, and cost no more than this. */
export const mayNameCache = (request: ReceivedRequest, fields: ObjectFields | undefined): boolean =>
  fields?.cache !== undefined &&
  request.mayNameObjects !== false &&
  typeof outlineOf(request)[fields.cache] === "string";

/** Finds the cache that a request names, and names it as its provider does. Undefined if it is not one of this gateway. */
export async function findHeldCache(
  request: ReceivedRequest,
  { cache: path }: ObjectFields,
  principal: Principal,
  { caches }: Pick<Gateway, "caches">,
): Promise<{ request: ReceivedRequest; cache: HeldCache } | undefined> {
  const id = path === undefined ? undefined : stringAt(request.body, path);
  if (path === undefined || id === undefined || parseObjectId(id)?.kind !== "cache") return undefined;
  const cache = await caches.find(principal, id);
  const providerId = cache && (await caches.providerId(cache));
  if (cache === undefined || providerId === undefined) {
    // It may be a cache of the provider's account, whose ids can have the same form.
    if (principal.providerObjects) return undefined;
    throw refused(path, `names the cache ${JSON.stringify(id.slice(0, 80))}, which has expired`);
  }
  const text = new ObjectEdit(request.text).set(path, JSON.stringify(providerId)).toString();
  const { model, provider, credential, tokens, billables = [] } = cache.terms;
  return {
    request: withoutAbsent({
      text,
      body: { ...request.body, [path]: providerId },
      adapted: request.adapted,
      files: request.files,
    }),
    cache: {
      ids: { own: objectId("cache", "genai", cache.id), provider: providerId },
      path,
      model,
      provider,
      credential,
      tokens,
      billables: billables.map((billable) => ({ ...billable, path })),
    },
  };
}

/** A cache belongs to one model at one credential. Any other would read the request without what the cache contains. */
export function requireHolder(
  { path, model, provider, ids }: HeldCache,
  { model: asked, offers }: Pick<Resolved, "model" | "offers">,
): void {
  if (asked.id === model && offers.some((offer) => offer.provider === provider)) return;
  throw refused(
    path,
    `names the cache ${ids.own} of ${model} at ${provider}, which ${asked.id} cannot read. Use the model of the cache, or mark what to cache with \`cache_control\``,
  );
}

/** The only target that can serve a call with a cache. There is no fallback. */
export function targetOfCache({ path, credential, ids }: HeldCache, targets: readonly TextTarget[]): TextTarget {
  const found = targets.find(({ via, provider }) => via === "genai" && provider.digest === credential);
  if (found !== undefined) return found;
  throw refused(path, `names the cache ${ids.own}, whose credential is no longer configured. Create it again`);
}

const refused = (path: string, problem: string): GatewayError =>
  new GatewayError("invalid_request", `${path} ${problem}.`, { path });
