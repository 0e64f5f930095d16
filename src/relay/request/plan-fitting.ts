import { asGatewayError, GatewayError } from "../../canon/error.ts";
import { describeRequirements } from "../../canon/offer-traits.ts";
import type { CallPlan } from "../../routing/candidates.ts";
import type { Target } from "../../routing/target.ts";
import type { Gateway } from "../gateway.ts";
import { inClientWords } from "../media/client-words.ts";
import { hasTraits } from "../require-traits.ts";
import { type PlannedCall, planMedia } from "./plan-call.ts";

/** The client's field names by canonical name, for errors. */
export type ClientPaths = Readonly<Partial<Record<string, string>>>;

/** A target, and the request as it accepts it. */
interface Fit<At extends Target, Fitted> {
  readonly target: At;
  readonly fitted: Fitted;
}

/** Plans a call among the targets that can serve it. If none can, the client gets the reason of the first. */
export function planFitting<At extends Target, Fitted>(
  call: PlannedCall,
  gateway: Gateway,
  offered: readonly At[],
  fit: (target: At) => Fitted,
  paths: ClientPaths,
): { plan: CallPlan<At>; fits: readonly Fit<At, Fitted>[] } {
  let able: readonly Fit<At, Fitted>[];
  try {
    able = offersThatFit(ableOf(call, offered), fit);
  } catch (thrown) {
    throw inClientWords(asGatewayError(thrown), paths);
  }
  const targets = able.map(({ target }) => target);
  const plan = planMedia(call, gateway, targets);
  return { plan, fits: plan.targets.flatMap((target) => able.filter((one) => one.target === target)) };
}

/** The offers with the traits that the call requires. */
function ableOf<At extends Target>({ model, routing: { require } }: PlannedCall, offered: readonly At[]) {
  if (require === undefined) return offered;
  const able = offered.filter((target) => hasTraits(target, require));
  if (able.length > 0) return able;
  const message = `No offer of ${model.id} has the required traits ${describeRequirements(require)}.`;
  throw new GatewayError("invalid_request", message, { path: "model", code: "required_traits" });
}

/** The offers whose models can serve the request. It is rejected only if no model can, with the reason of the first (contract 2.1, 8). */
export function offersThatFit<At extends Target, Fitted>(
  offered: readonly At[],
  fit: (target: At) => Fitted,
): Fit<At, Fitted>[] {
  let refusal: GatewayError | undefined;
  const fitting = offered.flatMap((target) => {
    try {
      return [{ target, fitted: fit(target) }];
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.rule.status !== 400) throw thrown;
      refusal ??= thrown;
      return [];
    }
  });
  if (fitting.length === 0) throw refusal ?? new Error("a plan has at least one offer");
  return fitting;
}
