import { NO_PREFERENCE } from "../canon/preference.ts";
import { candidatesOf } from "../routing/candidate.ts";
import type { CallPlan, Candidates } from "../routing/candidates.ts";
import { type Asked, type Moment, plan } from "../routing/plan.ts";
import type { Target, TextTarget } from "../routing/target.ts";
import type { Call } from "./call.ts";
import type { Gateway } from "./gateway.ts";

/** What planning needs to know of a call. */
export type PlannedCall = Pick<Call, "model" | "routing">;

/** The plan of a conversation. */
export function planText(
  call: PlannedCall,
  gateway: Gateway,
  candidates: Candidates<TextTarget>,
): CallPlan<TextTarget> {
  const { preference } = call.routing;
  return candidates.only(preference) ?? planCall(call, gateway, { candidates: candidates.list, preference });
}

/** The plan of images or videos, among the targets that can make what was asked for. */
export function planMedia<T extends Target>(call: PlannedCall, gateway: Gateway, fitting: readonly T[]): CallPlan<T> {
  const { preference } = call.routing;
  if (fitting.length === 1 && preference === NO_PREFERENCE) return { targets: fitting, explained: undefined };
  return planCall(call, gateway, { candidates: candidatesOf(fitting), preference });
}

function planCall<T extends Target>({ model }: PlannedCall, gateway: Gateway, asked: Asked<T>): CallPlan<T> {
  const { clock, health, random, snapshot } = gateway;
  const moment: Moment = {
    nowMs: clock.nowMs(),
    health,
    turn: snapshot.targets.nextTurn(model),
    draw: fraction(random.bytes(4)),
  };
  const explained = plan(asked, moment);
  return { targets: explained.map(({ target }) => target), explained };
}

/** In [0, 1). */
const fraction = (bytes: Uint8Array): number => bytes.reduceRight((sum, byte) => (sum + byte) / 256, 0);
