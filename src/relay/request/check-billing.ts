import { hasBudget } from "../../access/level.ts";
import { partsHaveBudget } from "../../access/parts/part-limits.ts";
import type { Principal } from "../../access/principal.ts";
import {
  type Billable,
  billableName,
  CACHE_STORAGE,
  strictestPolicy,
  type UnpricedPolicy,
  WEB_SEARCH,
} from "../../canon/billable.ts";
import { GatewayError } from "../../canon/error.ts";
import { LONG_CONTEXT, LONG_CONTEXT_TOKENS } from "../../canon/terms.ts";
import type { AnyPriceName, Model, Offer } from "../../catalogue/model.ts";
import { dependsOnPrompt, priceOf, unknownPrices } from "../../catalogue/price-table.ts";
import type { Door } from "../../dialects/reading/check.ts";
import type { Gateway } from "../gateway.ts";

/** The caller and its base URL. */
interface BilledCaller {
  principal: Principal;
  door: Door;
}

/** One offer that may answer, and how its host is reached. */
export interface BilledOffer {
  model: Model;
  offer: Offer;
  /** The name that the host is sent; undefined if it is not sent. */
  sentAs: (billable: Billable) => string | undefined;
}

/**
 * Rejects a request to a model or for something without a known price if the caller's money is limited or its base URL is strict. Every offer
 * that may answer is checked, because it is not known which one will.
 */
export function checkBilling(
  billables: readonly Billable[],
  caller: BilledCaller,
  offers: Iterable<BilledOffer>,
  gateway: Pick<Gateway, "snapshot" | "unpriced">,
): void {
  if (policyOf(caller, gateway.snapshot.unpriced) === "mark") return;
  const { unpriced: uses } = gateway;
  const isLimited = hasMoneyLimit(caller.principal);
  for (const { model, offer, sentAs } of offers) {
    const [missing] = unknownPrices(model.kind, offer);
    if (missing !== undefined) throw withoutPrice(missing, model, offer);
    for (const billable of billables) {
      const name = sentAs(billable);
      if (name === undefined) continue;
      if (!isPriced({ ...billable, name }, offer)) throw unpriced(billable, name, model, offer);
      if (!isLimited) continue;
      const earlier = uses.blocked(caller.principal, producerName(billable, offer.toolPrices));
      const produced = earlier?.find((one) => !isKnown(one, offer));
      if (produced !== undefined) throw producesUnpriced(billable, produced, model, offer);
    }
  }
}

/** The source of unpriced usage that is remembered: the price table's name of a tool, for any version in the request. */
export const producerName = ({ kind, name }: Pick<Billable, "kind" | "name">, tools: Offer["toolPrices"]): string =>
  billableName((kind === "tool" ? tools?.find(name)?.name : undefined) ?? name);

/** The strictest policy that a level sets, or what the caller's limits and base URL imply. */
function policyOf({ principal, door }: BilledCaller, gateway: UnpricedPolicy | undefined): UnpricedPolicy {
  const set = strictestPolicy(principal.unpriced, gateway);
  if (set !== undefined) return set;
  return door === "contract" || hasMoneyLimit(principal) ? "refuse" : "mark";
}

const hasMoneyLimit = ({ levels, parts }: Principal): boolean =>
  levels.some(({ limits }) => hasBudget(limits)) || (parts !== undefined && partsHaveBudget(parts));

function isPriced({ kind, name, crossesAs }: Omit<Billable, "path">, offer: Offer): boolean {
  if (kind === "term") {
    return Object.hasOwn(offer.priceMultiples ?? {}, name) || (name === LONG_CONTEXT && includesLongContext(offer));
  }
  // A price list has one price for searches, independent of the host's tool name.
  const isSearch = name === WEB_SEARCH || crossesAs === WEB_SEARCH;
  return (
    (isSearch && priceOf(offer.pricings, "searches").state !== "unknown") || offer.toolPrices?.find(name) !== undefined
  );
}

/** The tools that a host was sent without a known price. They may have cost something even if the response does not show them. */
export function unpricedTools(billables: readonly Billable[], offer: Offer, isNative: boolean): string[] {
  return billables.flatMap((billable) => {
    const name = isNative ? billable.name : billable.crossesAs;
    if (billable.kind === "term" || name === undefined || isPriced({ ...billable, name }, offer)) return [];
    return [billableName(name)];
  });
}

/**
 * Whether the ordinary price of an offer covers a long context: its price depends on the length of the prompt, or its ordinary context
 * is as long. A multiple that an operator set for the term still applies.
 */
export function includesLongContext({ pricings, priceMultiples, contextLength = 0 }: Offer): boolean {
  if (Object.hasOwn(priceMultiples ?? {}, LONG_CONTEXT)) return false;
  if (contextLength >= LONG_CONTEXT_TOKENS) return true;
  return dependsOnPrompt(pricings);
}

/** Whether something unpriced in an earlier response has a price by now. */
const isKnown = (name: string, offer: Offer): boolean =>
  isPriced({ kind: "tool", name }, offer) || isPriced({ kind: "term", name }, offer);

function withoutPrice(name: AnyPriceName, model: Model, { provider }: Offer): GatewayError {
  const message =
    `\`model\`: the ${name} price of ${model.id} at ${provider} is unknown, so this request cannot be billed. ` +
    `Ask an operator to set it: models: [{ id: ${model.id}, pricings: { ${name}: … } }], or pricings: {} if the model is free. ` +
    "With `billing.unpriced: mark`, the request is allowed and not billed.";
  return new GatewayError("invalid_request", message, { path: "model", code: "unpriced" });
}

function unpriced(billable: Billable, name: string, model: Model, { provider }: Offer): GatewayError {
  const shown = billableName(name);
  const message =
    `\`${billable.path}\`: the price of ${shown} at ${provider} is unknown, so this request cannot be billed. ` +
    `Leave it out, or ask an operator to set a price: ${settingOf(billable, shown, model)}. ` +
    "With `billing.unpriced: mark`, it is allowed and not billed.";
  return new GatewayError("invalid_request", message, { path: billable.path, code: "unpriced" });
}

function producesUnpriced(billable: Billable, produced: string, model: Model, { provider }: Offer): GatewayError {
  const message =
    `\`${billable.path}\`: an earlier response with ${billableName(billable.name)} reported ${produced}, whose price at ${provider} ` +
    `is unknown. Leave it out, or ask an operator to set a price: ${settingOf({ ...billable, kind: "tool" }, produced, model)}.`;
  return new GatewayError("invalid_request", message, { path: billable.path, code: "unpriced" });
}

/** What an operator writes in trivium.yaml. */
function settingOf({ kind }: Billable, name: string, { id }: Model): string {
  if (kind === "term") return `models: [{ id: ${id}, price_multiples: { ${name}: … } }]`;
  if (name === CACHE_STORAGE)
    return `models: [{ id: ${id}, pricings: { ${name}: [{ value: …, unit: perMTokenHours, currency: USD }] } }]`;
  return `models: [{ id: ${id}, tools: [{ name: ${name}, unit: call, usd: … }] }]`;
}
