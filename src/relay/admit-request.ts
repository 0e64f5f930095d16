import { admitCall } from "./admit-call.ts";
import type { IncomingRequest } from "./call.ts";
import { captureOf } from "./capture-call.ts";
import type { Gateway } from "./gateway.ts";
import { type CallKind, type FittedRequest, type ReadRequest, readRequest } from "./read-request.ts";
import { tellBegun } from "./tell-call.ts";

/** Has a request read and admitted. From here on there is a receipt. */
export async function admitRequest<
  Incoming extends IncomingRequest,
  Read extends ReadRequest,
  Fitted extends FittedRequest,
>(kind: CallKind<Incoming, Read, Fitted>, incoming: Incoming, gateway: Gateway) {
  const { admitted, asked } = await admitCall(
    incoming,
    gateway,
    (entered) => readRequest(kind, incoming, entered, gateway),
    ({ fitted }) => ({
      verb: kind.verb(incoming),
      model: fitted.served.model,
      stream: kind.streams(fitted, incoming),
    }),
  );
  const { fitted, sent } = asked;
  const { model, calledAs } = fitted.served;
  const call = {
    ...admitted,
    incoming,
    model,
    modelInAnswer: incoming.door === "dropin" ? calledAs : model.id,
    stream: kind.streams(fitted, incoming),
    capture: sent === undefined ? undefined : captureOf(sent, incoming, gateway),
  };
  if (gateway.events.watched) tellBegun(call, gateway);
  return { call, fitted };
}
