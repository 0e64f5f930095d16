import type { Billable } from "../../canon/billable.ts";
import { type LiveWork, TRANSCRIPTION } from "../../canon/live.ts";
import type { Usage } from "../../canon/usage.ts";
import { completionTokens, promptTokens } from "../../canon/usage.ts";
import type { Catalogue, Resolved } from "../../catalogue/catalogue.ts";
import { discounted } from "../../catalogue/discounted.ts";
import { priceCall } from "../../catalogue/price-call.ts";
import { unknownPrices } from "../../catalogue/price-table.ts";
import type { LiveTarget } from "../../routing/target.ts";
import type { IncomingRequest } from "../call.ts";
import type { BilledOffer } from "../request/check-billing.ts";
import { needsEstimate } from "../request/estimate-use.ts";
import type { CallKind, FittedRequest, ReadRequest } from "../request/read-request.ts";
import { findOffer } from "../settle/bill-usage.ts";
import { discountAt } from "../settle/discount.ts";
import { type LiveCaller, laneOf } from "./live-caller.ts";

/** Work of a host that a session is charged for. */
export interface AskedItem {
  readonly caller: LiveCaller;
  /** Of work that another model does, that model's. */
  readonly target: LiveTarget;
  /** What the model will read. */
  readonly prompt: Pick<Usage, "input" | "audioInput">;
  /** The longest possible answer, in tokens. */
  readonly mostOutput: number;
  /** What it may use. The most expensive is reserved. */
  readonly uses: readonly Usage[];
  /** Absent: a turn. */
  readonly work?: AskedWork;
  readonly billables: readonly Billable[];
  /** What began it, as the client sent it. Read only if the key's bodies are captured. */
  readonly sent: string;
}

/** Work besides turns. */
export interface AskedWork extends LiveWork {
  /** How much speech it is about. */
  readonly seconds: number;
  /** Nobody has stated what it costs: it is billed like the session's model, and marked. */
  readonly isUnpriced: boolean;
  /** More usage of an item that was admitted. */
  readonly isLate?: true;
}

export const verbOf = ({ work }: AskedItem): "generate" | "transcriptions" =>
  work?.what === TRANSCRIPTION ? "transcriptions" : "generate";

const UNGUARDED = "speech is not checked";

const NO_FIELDS: ReadRequest = { body: {}, mayNameObjects: false };

/** An item as a kind of call: it has no body of its own, and its target was chosen when the session was opened. */
export function liveKind(item: AskedItem): CallKind<IncomingRequest, ReadRequest, Resolved, FittedRequest> {
  const { caller, target, billables, uses } = item;
  const served: Resolved = { ...caller.resolved, model: target.model, offers: [target.offer] };
  return {
    read: () => Promise.resolve({ ...NO_FIELDS, model: served.model.id }),
    resolve: () => served,
    fit: () => Promise.resolve({ served }),
    billables: () => billables,
    billedOffers: () => [billedOffer(caller, target)],
    estimate: (_fitted, { principal }) => {
      const scope = { model: served.model.id, scope: caller.resolved.model.id, dialect: caller.dialect };
      if (!needsEstimate(principal)) return { ...scope, estimatedCostNanoUsd: 0, estimatedTokens: 0 };
      const costs = uses.map((usage) => priceCall(usage, target, []).costNanoUsd);
      const estimatedCostNanoUsd = discounted(Math.max(...costs), discountAt(principal, target));
      const [usage = {}] = uses;
      return { ...scope, estimatedCostNanoUsd, estimatedTokens: promptTokens(usage) + completionTokens(usage) };
    },
    sent: () => item.sent,
    rewritten: (read) => Promise.resolve(read),
    unguarded: UNGUARDED,
    verb: () => verbOf(item),
    streams: () => true,
  };
}

const BY_TRANSCRIPTION = `${TRANSCRIPTION}:`;

/** Without the models that write down what the user says if they have a price at the session's provider: their usage is billed at it. */
export const withoutPricedModels = (
  billables: readonly Billable[],
  { offer: { provider } }: LiveTarget,
  catalogue: Catalogue,
): readonly Billable[] =>
  billables.filter(({ name }) => {
    if (!name.startsWith(BY_TRANSCRIPTION)) return true;
    const found = findOffer(catalogue, provider, name.slice(BY_TRANSCRIPTION.length));
    return found === undefined || unknownPrices(found.kind, found.offer).length > 0;
  });

/** The only offer of a session, and what its host is sent. */
export const billedOffer = (caller: LiveCaller, target: LiveTarget): BilledOffer => ({
  model: target.model,
  offer: target.offer,
  sentAs: ({ name, crossesAs }) => (laneOf(caller, target) === "native" ? name : crossesAs),
});
