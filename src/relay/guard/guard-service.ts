import { checkJson } from "../../guards/answer-check.ts";
import { GuardBlockedError } from "../../guards/guard-errors.ts";
import { StreamGuard } from "../../guards/stream/stream-guard.ts";
import { whileRunning } from "../derived/while-running.ts";
import type { Gateway } from "../gateway.ts";
import type { ServiceCall } from "../service/service-call.ts";
import { guardRefusal } from "./guard-refusal.ts";
import { receivedEvents } from "./received-events.ts";
import { serviceTexts } from "./service-texts.ts";

/** The end of a stopped response, in protocols that have one. */
export interface ServiceStop {
  whole(answer: string): string;
  streamed(): string;
}

/** A whole response of a service, in JSON, as the guards leave it. */
export async function guardServiceAnswer(
  call: ServiceCall,
  gateway: Gateway,
  answer: string,
  stop?: ServiceStop,
): Promise<string> {
  const { guards, attempt } = call;
  if (guards === undefined || attempt === undefined || guards.inForce.response.length === 0) return answer;
  const context = {
    tally: guards.response(attempt),
    nowMs: gateway.clock.nowMs,
    asker: { gateway, call, run: guards },
  };
  try {
    const checking = checkJson(guards.inForce.response, answer, context);
    return (await whileRunning(checking, call, gateway.clock)).write();
  } catch (thrown) {
    const refusal = guardRefusal(thrown, "response", guards);
    if (thrown instanceof GuardBlockedError && stop !== undefined) return stop.whole(answer);
    throw refusal;
  }
}

/** The events of a service as the guards leave them. The provider's are read to their end, because they are billed. */
export async function* guardServiceParts(
  call: ServiceCall,
  gateway: Gateway,
  parts: AsyncGenerator<string | Uint8Array>,
  stop?: ServiceStop,
): AsyncGenerator<string | Uint8Array> {
  const { guards, attempt } = call;
  if (guards === undefined || attempt === undefined || guards.inForce.response.length === 0) {
    yield* parts;
    return;
  }
  const context = {
    tally: guards.response(attempt),
    nowMs: gateway.clock.nowMs,
    asker: { gateway, call, run: guards },
  };
  const guard = new StreamGuard(guards.inForce.response, serviceTexts, context);
  let refusal: unknown;
  const check = async () => {
    try {
      guard.check();
      if (guard.pending !== undefined) await whileRunning(guard.pending, call, gateway.clock);
    } catch (thrown) {
      refusal = thrown;
    }
  };
  for await (const part of parts) {
    if (refusal !== undefined) continue;
    if (typeof part !== "string") {
      yield part;
      continue;
    }
    for (const event of receivedEvents(part, true)) guard.push(event);
    await check();
    if (refusal === undefined) yield* guard.release();
  }
  if (refusal === undefined) {
    guard.end();
    await check();
    if (refusal === undefined) {
      yield* guard.release();
      return;
    }
  }
  if (!(refusal instanceof GuardBlockedError) || stop === undefined) throw guardRefusal(refusal, "response", guards);
  yield stop.streamed();
}
