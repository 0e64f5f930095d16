import type { Admission } from "../access/admit.ts";
import { RECEIPT_PREFIX, timePrefix } from "../base/timed-id.ts";
import type { CallRouting } from "../routing/call-routing.ts";
import type { Call, IncomingRequest } from "./call.ts";
import { type EnteredRequest, enterRequest, leaveRequest } from "./enter-request.ts";
import type { Gateway } from "./gateway.ts";
import { type AskedFor, keepIntent } from "./keep-intent.ts";

/** What every call has from its admission on. Its settlement gives back what it has taken. */
type Admitted = Pick<
  Call,
  | "receiptId"
  | "principal"
  | "admission"
  | "startedAtMs"
  | "timer"
  | "client"
  | "memory"
  | "offersTried"
  | "trace"
  | "routing"
  | "conversation"
  | "plan"
  | "continued"
  | "hedged"
> & { attempt: undefined };

/**
 * Has a request read and admitted. From here on there is a receipt; a request that is turned away has none. Where intents are kept,
 * `askedFor` is asked what the call is, and its row is on a disk before anything else happens.
 */
export async function admitCall<
  Incoming extends IncomingRequest,
  Asked extends { admission: Admission; routing: CallRouting },
>(
  incoming: Incoming,
  gateway: Gateway,
  read: (entered: EnteredRequest) => Promise<Asked>,
  askedFor: (asked: Asked, incoming: Incoming) => AskedFor,
): Promise<{ admitted: Admitted; asked: Asked }> {
  const entering = enterRequest(incoming, gateway);
  const entered = entering instanceof Promise ? await entering : entering;
  let asked: Asked;
  try {
    asked = await read(entered);
  } catch (refusal) {
    leaveRequest(entered);
    throw refusal;
  }
  gateway.runningCalls++;
  const { startedAtMs, timer, principal, client, memory } = entered;
  const { admission, routing } = asked;
  const receiptId = RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id();
  if (gateway.intents) {
    try {
      await keepIntent({ receiptId, principal, admission, incoming }, askedFor(asked, incoming), gateway);
    } catch (refusal) {
      gateway.runningCalls--;
      admission.release({ costNanoUsd: 0, tokens: 0 });
      leaveRequest(entered);
      throw refusal;
    }
  }
  const admitted = {
    receiptId,
    principal,
    admission,
    startedAtMs,
    timer,
    client,
    memory,
    offersTried: [],
    trace: gateway.tracing?.begin(incoming.request.headers),
    routing,
    conversation: undefined,
    plan: undefined,
    continued: undefined,
    hedged: false,
    attempt: undefined,
  };
  return { admitted, asked };
}
