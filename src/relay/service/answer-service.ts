import type { ServiceTarget } from "../../routing/target.ts";
import type { ServiceName } from "../../services/service-adapters.ts";
import { onceRouting } from "../batch/once-routing.ts";
import { planServiceLine, takeServiceLine } from "../batch/take-service-line.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import type { ServiceCall } from "./service-call.ts";
import { failService, settleService } from "./settle-service.ts";
import { tryService } from "./try-service.ts";

/** Generates and settles a whole response; then it may be sent. */
export async function answerService<Name extends ServiceName, Request, Reply, Answer>(
  call: ServiceCall<Request, Name>,
  gateway: Gateway,
  targets: readonly ServiceTarget<Name>[],
  use: (attempt: ServiceAttempt<Name>) => Promise<Reply>,
  encode: (reply: Reply) => Answer | Promise<Answer>,
): Promise<Answer> {
  const native = call.incoming.line?.native;
  if (native !== undefined) {
    const planned = planServiceLine(targets, native);
    if (native.response === undefined) return takeServiceLine(call, gateway, planned, use, native);
    return answerOnce({ ...call, routing: onceRouting(call.routing) }, gateway, [planned], use, encode);
  }
  return answerOnce(call, gateway, targets, use, encode);
}

async function answerOnce<Name extends ServiceName, Request, Reply, Answer>(
  call: ServiceCall<Request, Name>,
  gateway: Gateway,
  targets: readonly ServiceTarget<Name>[],
  use: (attempt: ServiceAttempt<Name>) => Promise<Reply>,
  encode: (reply: Reply) => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    const reply = await tryService(call, gateway, targets, use);
    if (call.client.disconnected) throw new ClientDisconnectedError();
    const answer = await encode(reply);
    await settleService(call, gateway, { outcome: "ok", firstContentAtMs: gateway.clock.nowMs() });
    return answer;
  } catch (thrown) {
    throw await failService(call, gateway, thrown);
  }
}
