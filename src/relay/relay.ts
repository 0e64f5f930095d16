import type { KeyLimits } from "../access/key-limits.ts";
import type { Principal } from "../access/principal.ts";
import { type JsonObject, stringAt } from "../base/json.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import { asGatewayError, GatewayError } from "../canon/error.ts";
import type { Usage } from "../canon/usage.ts";
import type { Model, Offer } from "../catalogue/model.ts";
import { priceCall } from "../catalogue/price-call.ts";
import { askedTerms } from "../dialects/priced-fields.ts";
import { plan } from "../routing/plan.ts";
import { beforeAdmission } from "./before-admission.ts";
import { type Call, ClientPresence, type IncomingCall } from "./call.ts";
import { relayTokenCount } from "./count-tokens.ts";
import type { Gateway } from "./gateway.ts";
import { HeldRequest } from "./held-request.ts";
import { refuseVideos, relayConversationImages } from "./media/conversation.ts";
import { expectedImageCost } from "./media/expected-image-cost.ts";
import { outputLimit, USUAL_OUTPUT } from "./output-limit.ts";
import { readBody } from "./read-body.ts";
import { RelayError } from "./relay-error.ts";
import { isAbandoned, settle } from "./settle.ts";
import { relayStream } from "./stream.ts";
import { relayUnary } from "./unary.ts";

/** The life of a call: authenticate, read, check, admit, plan, attempt, answer, settle. Throws GatewayError. */
export async function relay(incoming: IncomingCall, gateway: Gateway): Promise<Response> {
  const { dialect, request, verb } = incoming;
  const { catalogue, targets, maxBodyBytes } = gateway.snapshot;
  const startedAtMs = gateway.clock.nowMs();

  const principal = gateway.keys.authenticate(incoming.credential ?? "");
  const client = new ClientPresence(request, incoming.connection, gateway.watchdog);
  const { admission, memory, model, offers, calledAs, notes, checked } = await beforeAdmission(
    principal,
    client,
    gateway,
    async ({ entry, memory }) => {
      const received = await readBody(request, { maxBytes: maxBodyBytes, memory }, gateway);
      const { model, offers, calledAs, notes } = catalogue.resolve(modelName(incoming, received.body), incoming.naming);
      const checked = dialect.requests.check(received, {
        verb,
        door: incoming.door,
        model: { id: model.id, reasoning: model.reasoning },
        publicUrl: gateway.publicUrl,
      });
      const admission = entry.admit({
        model: model.id,
        dialect: dialect.name,
        ...estimateFor(principal, incoming, model, offers, checked.body),
      });
      return { admission, memory, model, offers, calledAs, notes, checked };
    },
  );
  const { body } = checked;
  gateway.runningCalls++;
  const call: Call = {
    incoming,
    receiptId: RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id(),
    principal,
    admission,
    model,
    modelInAnswer: incoming.door === "dropin" ? calledAs : model.id,
    request: new HeldRequest(checked),
    body,
    stream: incoming.streamInPath ?? body["stream"] === true,
    startedAtMs,
    adapted: checked.adapted === undefined ? notes : [...notes, ...checked.adapted],
    client,
    memory,
    offersTried: [],
    attempt: undefined,
  };
  try {
    if (!model.outputModalities.includes("text")) {
      // No host counts for a model that writes no text (H11).
      if (verb === "count_tokens") return await relayTokenCount(call, gateway, []);
      return model.kind === "video" ? refuseVideos(model) : await relayConversationImages(call, gateway, offers);
    }
    const planned = plan(targets.text(model, offers), { dialect: dialect.name });
    if (verb === "count_tokens") return await relayTokenCount(call, gateway, planned);
    return call.stream ? await relayStream(call, gateway, planned) : await relayUnary(call, gateway, planned);
  } catch (thrown) {
    // A call for images settles itself.
    if (thrown instanceof RelayError) throw thrown;
    const error = asGatewayError(thrown);
    await settle(call, gateway, {
      outcome: client.gone ? "client_gone" : error.kind,
      whole: false,
      produced: isAbandoned(call),
      usage: undefined,
      generatedCharacters: 0,
      reasoningSeen: false,
      stop: undefined,
      firstContentAtMs: undefined,
    });
    throw new RelayError(error, call);
  }
}

function modelName(incoming: IncomingCall, body: JsonObject): string {
  const name = incoming.modelInPath ?? stringAt(body, "model");
  if (name) return name;
  const found = body["model"] === undefined ? "is missing" : `is ${JSON.stringify(body["model"])?.slice(0, 40)}`;
  throw new GatewayError("invalid_request", `model ${found}; it must be a string such as "<provider>/<model_name>".`, {
    path: "model",
  });
}

const NO_ESTIMATE = { estimatedCostNanoUsd: 0, estimatedTokens: 0 };

const countsUse = ({ tokensPerMinute, budgetUsdPerDay, budgetUsdPerMonth, budgetUsdTotal }: KeyLimits): boolean =>
  tokensPerMinute !== undefined ||
  budgetUsdPerDay !== undefined ||
  budgetUsdPerMonth !== undefined ||
  budgetUsdTotal !== undefined;

/** Only keys with a token or money limit need an estimate; for all others the walk over the body is saved. */
function estimateFor(
  principal: Principal,
  incoming: IncomingCall,
  model: Model,
  offers: readonly Offer[],
  body: JsonObject,
) {
  const { limits } = principal;
  if (!countsUse(limits) || incoming.verb === "count_tokens") return NO_ESTIMATE;
  if (!model.outputModalities.includes("text")) {
    const count = incoming.dialect.codec.decodeRequest(body).candidateCount ?? 1;
    return { estimatedCostNanoUsd: expectedImageCost(count, {}, offers), estimatedTokens: 0 };
  }
  const input = incoming.dialect.requests.estimateTokens(body);
  const asked = incoming.dialect.requests.outputLimit(body);
  const output = outputLimit({ incoming, model, body }, USUAL_OUTPUT);
  const terms = askedTerms(body, incoming.dialect.requests.pricedFields);
  const costOf = (tokens: number) => Math.max(0, ...offers.map((offer) => dearest(input, tokens, offer, terms)));
  // A guess at the answer must not keep a call out for ever that asks for no more than the key may have in a minute.
  const most = asked === undefined ? Math.max(input, limits.tokensPerMinute ?? input + output) : input + output;
  const longest = asked === undefined ? outputLimit({ incoming, model, body }, Number.MAX_SAFE_INTEGER) : output;
  return {
    estimatedCostNanoUsd: costOf(output),
    // Where neither the caller nor the model has a limit, nobody knows the most.
    mostCostNanoUsd: costOf(longest < Number.MAX_SAFE_INTEGER ? longest : output),
    estimatedTokens: Math.min(input + output, most),
  };
}

/** Whether a prompt comes to stand in a cache, and how much of an answer is reasoning, nobody knows before. */
function dearest(input: number, output: number, offer: Offer, terms: readonly string[]): number {
  const prompts: Usage[] = [{ input }, { cacheWrite5m: input }, { cacheWrite1h: input }];
  const answers: Usage[] = [{ output }, { reasoning: output }];
  const ways = prompts.flatMap((prompt) => answers.map((answer) => ({ ...prompt, ...answer })));
  // Cheaper terms may not be had: the ordinary price is the least.
  return Math.max(
    ...ways.map((usage) =>
      Math.max(priceCall(usage, offer, []).costNanoUsd, priceCall(usage, offer, terms).costNanoUsd),
    ),
  );
}
