import { RECEIPT_PREFIX, timePrefix } from "../../base/timed-id.ts";
import type { Receipt } from "../../canon/receipt.ts";
import type { Resolved } from "../../catalogue/catalogue.ts";
import type { Call, IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { refuseAdmitted } from "../guard/refuse-admitted.ts";
import { captureOf } from "../settle/capture-call.ts";
import { publishCallBegun } from "../settle/publish-events.ts";
import { enterRequest, leaveRequest } from "./enter-request.ts";
import { keepIntent, requireLedger } from "./keep-intent.ts";
import {
  type AdmittedRequest,
  type CallKind,
  type FittedRequest,
  type ReadRequest,
  readRequest,
} from "./read-request.ts";

/** What every call has once it is admitted. Its settlement releases what it holds. */
type Admitted<Incoming> = Pick<
  Call,
  | "receiptId"
  | "principal"
  | "admission"
  | "model"
  | "modelInAnswer"
  | "stream"
  | "capture"
  | "guards"
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
> & { attempt: undefined; incoming: Incoming; verb: Receipt["verb"] };

type Mutable<Of> = { -readonly [Field in keyof Of]: Of[Field] };

/**
 * Reads and admits a request. From here on there is a receipt; a rejected request has none. If intents are enabled, the call's row
 * is on disk before anything else happens.
 */
export async function admitCall<
  Incoming extends IncomingRequest,
  Read extends ReadRequest,
  Found extends Resolved | undefined,
  Fitted extends FittedRequest,
>(
  kind: CallKind<Incoming, Read, Found, Fitted>,
  incoming: Incoming,
  gateway: Gateway,
): Promise<{ admitted: Admitted<Incoming>; asked: AdmittedRequest<Fitted> }> {
  const entered = await enterRequest(incoming, gateway);
  let asked: AdmittedRequest<Fitted>;
  try {
    asked = await readRequest(kind, incoming, entered, gateway);
  } catch (refusal) {
    leaveRequest(entered);
    throw refusal;
  }
  gateway.runningCalls++;
  const { startedAtMs, timer, principal, client, memory } = entered;
  const { admission, routing, fitted, sent, guards } = asked;
  const { model, calledAs } = fitted.served;
  const stream = kind.streams(fitted, incoming);
  const receiptId = RECEIPT_PREFIX + timePrefix(admission.atMs) + gateway.random.id();
  // A line that a batch API runs sends nothing here.
  const native = incoming.line?.native;
  const sendsNothing = native !== undefined;
  const isPrepared = sendsNothing && native.response === undefined;
  try {
    // Calls that entered together are counted one by one here.
    requireLedger(incoming, gateway);
    if (gateway.intents && !sendsNothing && asked.caching?.found === undefined) {
      const begun = { receiptId, principal, admission, incoming };
      await keepIntent(begun, { verb: kind.verb(incoming), model, stream }, gateway);
    }
  } catch (refusal) {
    gateway.runningCalls--;
    admission.release({ costNanoUsd: 0, tokens: 0 });
    leaveRequest(entered);
    throw refusal;
  }
  const { cause } = incoming;
  const admitted: Mutable<Admitted<Incoming>> = {
    receiptId,
    incoming,
    principal,
    admission,
    model,
    modelInAnswer: incoming.door === "dropin" ? calledAs : model.id,
    stream,
    capture: sent === undefined || isPrepared ? undefined : captureOf(sent, incoming, gateway),
    startedAtMs,
    timer,
    client,
    memory,
    offersTried: [],
    trace: gateway.tracing?.begin(incoming.request.headers, cause?.call.trace),
    routing,
    conversation: undefined,
    plan: undefined,
    continued: undefined,
    hedged: false,
    attempt: undefined,
    guards,
    verb: kind.verb(incoming),
  };
  if (!sendsNothing) gateway.calls.add(admitted);
  if (gateway.events.watched && !sendsNothing) publishCallBegun(admitted, gateway);
  if (asked.check === undefined) return { admitted, asked };
  const { refusal, ...checked } = await asked.check(admitted);
  if (checked.sent !== undefined && !isPrepared) admitted.capture = captureOf(checked.sent, incoming, gateway);
  if (refusal !== undefined) throw await refuseAdmitted(admitted, kind.verb(incoming), refusal, gateway);
  admitted.model = checked.fitted.served.model;
  admitted.modelInAnswer = incoming.door === "dropin" ? checked.fitted.served.calledAs : admitted.model.id;
  return { admitted, asked: { ...asked, ...checked } };
}
