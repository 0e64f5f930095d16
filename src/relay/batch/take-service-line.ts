import { GatewayError } from "../../canon/error.ts";
import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import type { NativePass, PreparingPass } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { ServiceAttempt } from "../service/service-attempt.ts";
import type { ServiceCall } from "../service/service-call.ts";
import { unfitLine } from "./plan-native.ts";
import { PreparedError } from "./prepared-error.ts";
import { releaseLine } from "./release-line.ts";

/** The target of a line, as `planNative` finds it for text. */
export function planServiceLine<Name extends ServiceName>(
  targets: readonly ServiceTarget<Name>[],
  { target: id, response }: NativePass,
): ServiceTarget<Name> {
  const [first] = targets;
  const chosen = id === undefined ? first : targets.find((target) => target.id === id);
  if (chosen !== undefined && (response !== undefined || chosen.offer === first?.offer)) return chosen;
  if (response !== undefined) throw new GatewayError("internal", "The offer of this batch is not configured any more.");
  throw unfitLine("Its requests go to more than one offer.");
}

/** Prepares the request of a line as its target is sent it, and throws. Nothing is sent, and there is no receipt. */
export async function takeServiceLine<Name extends ServiceName, Request>(
  call: ServiceCall<Request, Name>,
  gateway: Gateway,
  target: ServiceTarget<Name>,
  use: (attempt: ServiceAttempt<Name>) => Promise<unknown>,
  native: PreparingPass,
): Promise<never> {
  const attempt = new ServiceAttempt<Name>(call, gateway, target);
  try {
    const { batches } = target.provider;
    if (batches?.endpointOf(call.service) === undefined)
      throw unfitLine(`The provider ${target.offer.provider} has no batch API for it.`);
    const thrown = await use(attempt).catch((error: unknown) => error);
    const [request, ...others] = attempt.prepared;
    const json = request?.body !== undefined && "json" in request.body ? request.body.json : undefined;
    if (!(thrown instanceof PreparedError)) throw thrown;
    if (json === undefined || others.length > 0) throw unfitLine("It needs more than one call.");
    const { provider } = target.offer;
    const body = JSON.stringify(json);
    native.take({
      target: target.id,
      provider,
      credential: batches.credential,
      headers: {},
      body,
      left: call.guards?.left,
    });
    throw thrown;
  } finally {
    attempt.close();
    releaseLine(call, gateway);
  }
}
