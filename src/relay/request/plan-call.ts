import { arrayAt } from "../../base/json.ts";
import { NO_PREFERENCE } from "../../canon/preference.ts";
import type { Model } from "../../catalogue/model.ts";
import { conversationOf } from "../../dialects/request/conversation-of.ts";
import { type Candidate, candidatesOf } from "../../routing/candidate.ts";
import type { CallPlan } from "../../routing/candidates.ts";
import { type PlanContext, type PlanRequest, plan } from "../../routing/plan.ts";
import type { Target, TextTarget } from "../../routing/target.ts";
import type { Targets } from "../../routing/targets.ts";
import type { Call } from "../call.ts";
import { tooLarge, waysToSend } from "../files/ways-to-send.ts";
import type { Gateway } from "../gateway.ts";
import { hasTraits, lacksTraits, withTraits } from "../require-traits.ts";
import type { ServedModel } from "../settle/served-model.ts";
import { targetOfCache } from "./held-cache.ts";

/** What planning needs to know of a call. */
export type PlannedCall = Pick<Call, "model" | "routing">;

/** The plan of a call for text. */
export function planText(call: Call, gateway: Gateway, served: ServedModel): CallPlan<TextTarget> {
  const planned = withinLimits(call, planTargets(call, gateway, served));
  const received = call.request?.received;
  if (received?.files === undefined) return planned;
  const { files, text } = received;
  const fits = (target: TextTarget) => waysToSend({ files, characters: text.length }, target) !== undefined;
  const targets = planned.targets.filter(fits);
  if (targets.length === 0) throw tooLarge(files);
  return { targets, explained: planned.explained?.filter(({ target }) => fits(target)) };
}

/** The targets that no limit refused when the call was admitted. Why it refused the others is in the receipt. */
function withinLimits({ admission }: Call, plan: CallPlan<TextTarget>): CallPlan<TextTarget> {
  const targets = plan.targets.filter((target) => admission.refusalOf(target) === undefined);
  if (targets.length === plan.targets.length) return plan;
  const [first] = plan.targets;
  const refusal = first && admission.refusalOf(first);
  if (targets.length === 0 && refusal !== undefined) throw refusal;
  return { targets, explained: plan.explained };
}

function planTargets(call: Call, gateway: Gateway, served: ServedModel): CallPlan<TextTarget> {
  const { preference, require } = call.routing;
  const { model, offers, modelWhy, fallback } = served;
  const { targets } = gateway.snapshot;
  const dialect = call.incoming.dialect.name;
  if (call.cache !== undefined) {
    const held = targetOfCache(
      call.cache,
      offers.flatMap((offer) => targets.textOf(offer)),
    );
    if (!hasTraits(held, require)) throw lacksTraits(model, require ?? [], call.principal, gateway);
    return { targets: [held], explained: undefined };
  }
  const candidates = targets.text(model, offers, dialect, needsTools(call, targets, model));
  const isFree = modelWhy === undefined && fallback === undefined && require === undefined;
  const only = isFree ? candidates.only(preference) : undefined;
  if (only !== undefined) return only;
  const other = fallback && {
    candidates: withTraits(
      targets.text(fallback.model, fallback.offers, dialect, needsTools(call, targets, fallback.model)).list,
      require,
    ),
    why: fallback.why,
  };
  const able = withTraits(candidates.list, require);
  if (able.length === 0 && !other?.candidates.length) throw lacksTraits(model, require ?? [], call.principal, gateway);
  const asked: PlanRequest<TextTarget> = { candidates: able, preference, modelWhy, fallback: other };
  return planCall(call, gateway, asked, heldBy(call, gateway));
}

/** The names under which the protocols list tools; the second is the older form of chat completions. */
const TOOL_LISTS = ["tools", "functions"];

/** Whether a call needs a target that accepts tools. */
const needsTools = ({ outline }: Call, targets: Targets, model: Model): boolean =>
  targets.splitsByTools(model) && TOOL_LISTS.some((name) => arrayAt(outline, name).length > 0);

/** The target that holds the conversation's prompt cache. Counting tokens caches nothing. */
function heldBy(call: Call, { clock, conversations }: Gateway): string | undefined {
  const { incoming, principal, model, outline, routing, request } = call;
  if (routing.preference.sticky === false || incoming.verb !== "generate") return undefined;
  const scope = `${principal.project} ${model.id}`;
  const { conversation } = incoming.dialect.requests;
  const { key, continues } = conversationOf(outline, conversation, scope, request?.received.outline?.texts);
  call.conversation = key;
  return continues ? conversations.find(key, clock.nowMs()) : undefined;
}

/** Plans images or videos among the targets that can serve the request. */
export function planMedia<T extends Target>(call: PlannedCall, gateway: Gateway, fitting: readonly T[]): CallPlan<T> {
  const { preference } = call.routing;
  if (fitting.length === 1 && preference === NO_PREFERENCE) return { targets: fitting, explained: undefined };
  return planCall(call, gateway, { candidates: candidatesOf(fitting), preference });
}

/** Plans among candidates that are already known, such as those of a live connection. */
export function planCandidates<T extends Target>(
  call: PlannedCall,
  gateway: Gateway,
  candidates: readonly Candidate<T>[],
): CallPlan<T> {
  return planCall(call, gateway, { candidates, preference: call.routing.preference });
}

function planCall<T extends Target>(
  { model }: PlannedCall,
  gateway: Gateway,
  asked: PlanRequest<T>,
  held?: string,
): CallPlan<T> {
  const { clock, health, random, snapshot } = gateway;
  const context: PlanContext = {
    nowMs: clock.nowMs(),
    health,
    held,
    turn: snapshot.targets.nextTurn(model),
    draw: fraction(random.bytes(4)),
  };
  const explained = plan(asked, context);
  return { targets: explained.map(({ target }) => target), explained };
}

/** In [0, 1). */
const fraction = (bytes: Uint8Array): number => bytes.reduceRight((sum, byte) => (sum + byte) / 256, 0);
