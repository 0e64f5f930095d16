import { asGatewayError } from "../../canon/error.ts";
import type { Receipt } from "../../canon/receipt.ts";
import { RelayError } from "../answer/relay-error.ts";
import type { Gateway } from "../gateway.ts";
import { type AdmittedCall, closeCall } from "../settle/close-call.ts";

/** Settles a call that a guard refused before any provider was asked. It has a receipt, and costs nothing. */
export async function refuseAdmitted(
  call: AdmittedCall & { incoming: { dialect: { name: string } } },
  verb: Receipt["verb"],
  refusal: unknown,
  gateway: Gateway,
): Promise<RelayError> {
  const error = asGatewayError(refusal);
  const { name } = call.incoming.dialect;
  await closeCall(call, gateway, {
    verb,
    clientDialect: name,
    upstreamDialect: name,
    lane: "native",
    outcome: call.client.disconnected ? "client_gone" : error.kind,
    offer: undefined,
    usage: {},
    source: "measured",
    pricings: call.model.pricings,
    firstContentAtMs: undefined,
    error,
  });
  return new RelayError(error, call);
}
