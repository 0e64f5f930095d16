import { asGatewayError } from "../canon/error.ts";
import type { CallPlan } from "../routing/candidates.ts";
import type { Target } from "../routing/target.ts";
import type { Gateway } from "./gateway.ts";
import { inClientWords } from "./media/client-words.ts";
import { offersThatFit } from "./media/offers-that-fit.ts";
import { type PlannedCall, planMedia } from "./plan-call.ts";

/** The client's names of fields, by the canonical ones. */
export type ClientPaths = Readonly<Partial<Record<string, string>>>;

/** Plans a call among the targets that can do what it asks for. Where none can, the client gets the reason of the first. */
export function planFitting<At extends Target, Fitted>(
  call: PlannedCall,
  gateway: Gateway,
  offered: readonly At[],
  fit: (target: At) => Fitted,
  paths: ClientPaths,
): { plan: CallPlan<At>; fits: { target: At; fitted: Fitted }[] } {
  const able = fitting(offered, fit, paths);
  const plan = planMedia(
    call,
    gateway,
    able.map(({ target }) => target),
  );
  return { plan, fits: plan.targets.flatMap((target) => able.filter((one) => one.target === target)) };
}

function fitting<At extends Target, Fitted>(
  offered: readonly At[],
  fit: (target: At) => Fitted,
  paths: ClientPaths,
): { target: At; fitted: Fitted }[] {
  try {
    return offersThatFit(offered, fit);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), paths);
  }
}
