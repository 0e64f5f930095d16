import type { Billable } from "../../canon/billable.ts";
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

/** A turn that is about to begin. */
export interface AskedTurn {
  readonly caller: LiveCaller;
  readonly target: LiveTarget;
  /** What the model will read. */
  readonly prompt: Pick<Usage, "input" | "audioInput">;
  /** The longest possible answer, in tokens. */
  readonly mostOutput: number;
  readonly billables: readonly Billable[];
  /** What began it, as the client sent it. Read only if the key's bodies are captured. */
  readonly sent: string;
}

const UNGUARDED = "speech is not checked";

const NO_FIELDS: ReadRequest = { body: {}, mayNameObjects: false };

/** A turn as a kind of call: it has no body of its own, and its target was chosen when the session was opened. */
export function liveKind(turn: AskedTurn): CallKind<IncomingRequest, ReadRequest, Resolved, FittedRequest> {
  const { caller, target, billables } = turn;
  const served: Resolved = { ...caller.resolved, offers: [target.offer] };
  return {
    read: () => Promise.resolve({ ...NO_FIELDS, model: served.model.id }),
    resolve: () => served,
    fit: () => Promise.resolve({ served }),
    billables: () => billables,
    billedOffers: () => [billedOffer(caller, target)],
    estimate: (_fitted, { principal }) => {
      const scope = { model: served.model.id, dialect: caller.dialect };
      if (!needsEstimate(principal)) return { ...scope, estimatedCostNanoUsd: 0, estimatedTokens: 0 };
      const uses = (["output", "audioOutput"] as const).map((kind) => ({ ...turn.prompt, [kind]: turn.mostOutput }));
      const costs = uses.map((usage) => priceCall(usage, target, []).costNanoUsd);
      const estimatedCostNanoUsd = discounted(Math.max(...costs), discountAt(principal, target));
      const [usage = {}] = uses;
      return { ...scope, estimatedCostNanoUsd, estimatedTokens: promptTokens(usage) + completionTokens(usage) };
    },
    sent: () => turn.sent,
    rewritten: (read) => Promise.resolve(read),
    unguarded: UNGUARDED,
    verb: () => "generate",
    streams: () => true,
  };
}

const TRANSCRIPTION = "transcription:";

/** Without the models that write down what the user says if they have a price at the session's provider: their usage is billed at it. */
export const withoutPricedModels = (
  billables: readonly Billable[],
  { offer: { provider } }: LiveTarget,
  catalogue: Catalogue,
): readonly Billable[] =>
  billables.filter(({ name }) => {
    if (!name.startsWith(TRANSCRIPTION)) return true;
    const found = findOffer(catalogue, provider, name.slice(TRANSCRIPTION.length));
    return found === undefined || unknownPrices(found.kind, found.offer).length > 0;
  });

/** The only offer of a session, and what its host is sent. */
export const billedOffer = (caller: LiveCaller, target: LiveTarget): BilledOffer => ({
  model: caller.resolved.model,
  offer: target.offer,
  sentAs: ({ name, crossesAs }) => (laneOf(caller, target) === "native" ? name : crossesAs),
});
