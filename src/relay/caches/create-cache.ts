import { type Principal, sharingOf } from "../../access/principal.ts";
import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { type Billable, CACHE_STORAGE } from "../../canon/billable.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { unionOfTags } from "../../canon/tags.ts";
import { storagePriceOf } from "../../catalogue/price-table.ts";
import { priceUsage } from "../../catalogue/pricing.ts";
import { normaliseGenaiRequest } from "../../dialects/genai/normalise.ts";
import type { Cache } from "../../objects/caches.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ProviderCache } from "../../services/cache/cache-adapter.ts";
import { CACHE_CONTENT, checkCacheRequest, readTtl } from "../../services/cache/schema.ts";
import { RelayError } from "../answer/relay-error.ts";
import { UncertainError } from "../attempt/provider-exchange.ts";
import { ClientDisconnectedError, type IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { inlineFiles, mayNameFiles } from "../request/inline-files.ts";
import { readBody } from "../request/read-body.ts";
import type { ServiceAttempt } from "../service/service-attempt.ts";
import { admitService, type Service, type ServiceCall } from "../service/service-call.ts";
import { failService, settleService } from "../service/settle-service.ts";
import { tryService } from "../service/try-service.ts";
import { discountAt } from "../settle/discount.ts";
import { nameAtProvider } from "./cache-holder.ts";
import { endCache } from "./end-cache.ts";
import { storageCost } from "./storage-bill.ts";

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The caches of a project are looked after one by one. */
const MAX_CACHES = 1_000;
/** The longest context of any model, for models whose context is unknown. */
const LONGEST_CONTEXT = 10_000_000;

/** A request for a cache, read and checked. */
interface CacheCall {
  content: JsonObject;
  ttlMs: number;
  displayName: string | undefined;
  /** The model as the client wrote it. */
  modelAsNamed: string;
  /** Of the content, estimated. */
  tokens: number;
  /** What calls that use it may cost besides tokens. */
  billables: readonly Billable[];
}

const BODY = { door: "dropin" as const, model: { id: "", reasoning: false } };

/** All ways to name a model in a body: the vendor's, with or without its publisher and a cloud project. */
const MODEL =
  /^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/(?<publisher>[^/]+)\/models\/(?<name>.+)|models\/(?<id>.+)|(?<bareId>.+))$/;

function serviceFor(incoming: IncomingRequest): Service<"caches", CacheCall> {
  const { dialect } = incoming;
  return {
    name: "caches",
    read: async (request, memory, gateway, principal) => {
      const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
      const normal = normaliseGenaiRequest(received.body);
      const checked = checkCacheRequest(normal, BODY);
      const asked = { text: received.text, body: { ...checked } };
      const named = mayNameFiles(asked)
        ? await inlineFiles(asked, { incoming, entered: { memory, principal } }, gateway)
        : undefined;
      const { body } = named ?? asked;
      const content: JsonObject = Object.fromEntries(
        CACHE_CONTENT.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
      );
      const modelAsNamed = checked.model;
      return {
        sent: received,
        body,
        model: dialect.http.readModel(MODEL.exec(modelAsNamed)?.groups ?? {}),
        request: {
          content,
          ttlMs: readTtl(body, gateway.clock.wallMs()),
          displayName: checked.displayName,
          modelAsNamed,
          tokens: dialect.requests.estimateTokens(content),
          billables: dialect.requests.billables(content, undefined),
        },
      };
    },
    billables: ({ billables }) => [{ kind: "tool", name: CACHE_STORAGE, path: "ttl" }, ...billables],
    estimate:
      ({ tokens, ttlMs }) =>
      (target) => ({
        costNanoUsd:
          priceUsage({ input: tokens }, target.pricings).costNanoUsd +
          storageCost({ usd: storagePrice(target), tokens, discount: 0 }, ttlMs),
        tokens,
      }),
  };
}

const storagePrice = ({ pricings }: Pick<ServiceTarget, "pricings">): number | undefined => storagePriceOf(pricings);

/**
 * Creates a cache at one of the model's providers. The tokens are billed as input, as providers do; their storage is held until the
 * cache ends. Resolves with the cache, and the call that created it.
 */
export async function createCache(
  incoming: IncomingRequest,
  gateway: Gateway,
): Promise<{ cache: Cache; call: ServiceCall<CacheCall, "caches"> }> {
  const { call, targets } = await admitService(incoming, gateway, serviceFor(incoming));
  let cache: Cache;
  try {
    await requireRoom(call.principal, gateway);
    cache = await tryService(call, gateway, targets, (attempt) => createAt(attempt, call, gateway));
  } catch (thrown) {
    throw await failService(call, gateway, thrown);
  }
  // The call's reservation is released, and the actual cost is held, in one turn of the event loop (H23).
  const settled = settleService(call, gateway, { outcome: "ok", firstContentAtMs: gateway.clock.nowMs() });
  const refusal = holdStorage(cache, call, gateway);
  await settled;
  if (refusal === undefined) return { cache, call };
  await endCache(cache, gateway, incoming.requestId).catch((err: unknown) =>
    gateway.log.error(
      { err, cache: cache.id },
      "failed to delete a cache that nobody can use; it is kept until it expires",
    ),
  );
  throw new RelayError(refusal, call);
}

/** How much a file has in tokens is known only now: it may be more than a budget allows. */
function holdStorage(cache: Cache, { principal, client }: ServiceCall, gateway: Gateway): GatewayError | undefined {
  const costNanoUsd = storageCost(cache.terms, cache.expiresAtMs - cache.terms.paidUntilMs);
  try {
    gateway.admissions.requireBudget(principal, costNanoUsd);
  } catch (thrown) {
    gateway.caches.hold(cache, costNanoUsd);
    return asGatewayError(thrown);
  }
  gateway.caches.hold(cache, costNanoUsd);
  return client.disconnected ? new ClientDisconnectedError() : undefined;
}

async function requireRoom({ project }: Principal, { caches }: Gateway): Promise<void> {
  if ((await caches.count(project)) < MAX_CACHES) return;
  const message = `The project "${project}" has ${MAX_CACHES} caches, which is the limit. Delete some, or wait until they expire.`;
  throw new GatewayError("forbidden", message, { code: "storage_limit_exceeded" });
}

/** One attempt at one credential. The cache is recorded first: if the answer is lost, it is found by its name, and deleted. */
async function createAt(
  attempt: ServiceAttempt<"caches">,
  { request, principal, incoming }: ServiceCall<CacheCall, "caches">,
  gateway: Gateway,
): Promise<Cache> {
  const { target } = attempt;
  const { caches, clock } = gateway;
  attempt.note([]);
  const beganAtMs = Math.floor(clock.wallMs());
  const begun = await caches.begin(
    { ...principal, share: sharingOf(principal) },
    withoutAbsent({
      name: request.displayName,
      model: target.model.id,
      modelAsNamed: request.modelAsNamed,
      provider: target.offer.provider,
      credential: target.provider.digest,
      upstreamModel: target.offer.upstreamModel,
      tokens: request.tokens,
      usd: storagePrice(target),
      discount: discountAt(principal, target),
      payer: principal.keyId,
      reservedBy: gateway.instance,
      paidUntilMs: beganAtMs,
      updatedAtMs: beganAtMs,
      billables: request.billables.length === 0 ? undefined : request.billables,
      tags: unionOfTags(principal.tags, incoming.tags),
    }),
    beganAtMs + request.ttlMs,
  );
  const made = await createThere(attempt, request, begun, gateway);
  const nowMs = Math.floor(clock.wallMs());
  const terms = withoutAbsent({
    ...begun.terms,
    tokens: made.tokens ?? request.tokens,
    counts: made.counts,
    paidUntilMs: nowMs,
    updatedAtMs: nowMs,
  });
  const cache = { ...begun, state: "active" as const, expiresAtMs: Math.floor(nowMs + request.ttlMs), terms };
  if (!(await caches.change(begun, { next: cache, providerId: made.id })))
    throw new GatewayError("internal", "The cache was deleted while it was being created.");
  return cache;
}

async function createThere(
  attempt: ServiceAttempt<"caches">,
  { content, ttlMs, tokens: expected }: CacheCall,
  begun: Cache,
  { caches }: Gateway,
): Promise<ProviderCache> {
  const { adapter, offer } = attempt.target;
  const work = attempt.begin({ input: expected });
  try {
    const request = adapter.create({ content, name: nameAtProvider(begun), ttlMs }, attempt.context);
    const made = adapter.read(await attempt.ask(request, MAX_ANSWER_BYTES));
    if (made.tokens === undefined) {
      attempt.done(work, undefined);
      return made;
    }
    const tokens = Math.min(made.tokens, offer.contextLength ?? LONGEST_CONTEXT);
    // An estimate of a film or a recording can be far off. The provider's count is bounded by what the model can read.
    attempt.done(work, { input: tokens }, { instead: { input: tokens } });
    return { ...made, tokens };
  } catch (thrown) {
    if (wasRejected(thrown)) await caches.forget(begun);
    else caches.hold(begun, storageCost(begun.terms, ttlMs));
    throw thrown;
  } finally {
    attempt.failed(work);
  }
}

/** The provider was not reached, or has certainly not created it. After other failures it is looked for later. */
function wasRejected(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError) || thrown instanceof UncertainError || !thrown.failure) return false;
  const { status } = thrown.failure;
  return status === undefined || status < 500 || status === OVERLOADED;
}

const OVERLOADED = 503;
