import { asGatewayError, type GatewayError } from "../../canon/error.ts";
import { RelayError } from "../answer/relay-error.ts";
import { ClientDisconnectedError } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { inClientWords } from "../media/client-words.ts";
import { closeCall } from "../settle/close-call.ts";
import type { ServiceCall } from "./service-call.ts";

/** Writes the row: `ok`, or the kind of the error. The attempt's usage is billed even if the client disconnected (H26). */
export function settleService(
  call: ServiceCall,
  gateway: Gateway,
  { outcome, firstContentAtMs, error }: { outcome: string; firstContentAtMs?: number; error?: GatewayError },
): Promise<void> {
  const { attempt, incoming } = call;
  attempt?.finish();
  const { used, target, terms } = attempt ?? {};
  return closeCall(call, gateway, {
    verb: call.service,
    clientDialect: incoming.dialect.name,
    upstreamDialect: "service",
    lane: "translated",
    outcome: call.client.disconnected ? "client_gone" : outcome,
    offer: target?.offer,
    usage: used?.usage ?? {},
    source: used?.source ?? "measured",
    pricings: target?.pricings ?? call.model.pricings,
    priceMultiples: target?.priceMultiples,
    toolPrices: target?.toolPrices,
    terms: terms ?? [],
    firstContentAtMs,
    error,
  });
}

/** Settles a failed call and returns its error in the client's terms. */
export async function failService(call: ServiceCall, gateway: Gateway, thrown: unknown): Promise<RelayError> {
  const error = asGatewayError(call.client.disconnected ? new ClientDisconnectedError() : thrown);
  const shown = inClientWords(error, call.paths);
  await settleService(call, gateway, { outcome: error.kind, error: shown });
  return new RelayError(shown, call);
}
