import { recordAct } from "../../access/audit.ts";
import type { Principal } from "../../access/principal.ts";
import { asGatewayError, GatewayError } from "../../canon/error.ts";
import type { Model } from "../../catalogue/model.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import { RelayError } from "../../relay/answer/relay-error.ts";
import { relay } from "../../relay/relay.ts";
import { incomingCall } from "../endpoints/text-calls.ts";
import { json } from "../openapi/operation.ts";
import type { ServerContext } from "../routed-request.ts";
import { actorOf } from "./actor.ts";
import { type AdminCall, adminRoute } from "./define-route.ts";
import { ProviderTestAnswer } from "./schemas/provider-test.ts";

const DEADLINE_MS = 30_000;
/** Some hosts reject a lower limit. */
const MAX_TOKENS = 16;

/** Calls of operators have receipts like all others, under this name. */
const PRINCIPAL: Principal = {
  keyId: "operator",
  keyName: "operator",
  project: "default",
  models: ["*"],
  limits: {},
  levels: [],
  unpriced: "mark",
};

export const testProvider = adminRoute({
  method: "POST",
  path: "/api/providers/{name}/test",
  id: "testProvider",
  summary: "Test a provider: each credential with a free request, and a small real call to its cheapest text model.",
  roles: ["admin"],
  answers: [json(ProviderTestAnswer, "The results. The call has a receipt and is billed.")],
  handle: async (call, context, { probe }) => {
    const { providers, catalogue } = context.gateway.snapshot;
    const name = call.parameters["name"] ?? "";
    if (!providers.has(name)) {
      const known = [...providers.keys()].join(", ") || "none";
      throw new GatewayError("not_found", `There is no provider ${JSON.stringify(name)}; expected one of ${known}.`, {
        code: "provider_not_found",
      });
    }
    const actor = actorOf(call.operator, call.connection);
    await recordAct(context.storage, { ...actor, act: "provider.test", target: name }, context.gateway);
    const model = cheapestText(catalogue.list(), name);
    const [probed, called] = await Promise.all([
      probe(name),
      model === undefined ? undefined : callOnce(`${model.id}:${name}`, call, context),
    ]);
    const credentials = probed.map(({ credential, host, state, detail }) => ({
      label: credential ?? null,
      host,
      state,
      detail,
    }));
    const ok = called?.ok ?? credentials.every(({ state }) => state === "ok");
    return { data: { provider: name, ok, credentials, call: called ?? null } };
  },
});

/** By the price of one input token and one output token. */
function cheapestText(models: readonly Model[], provider: string): Model | undefined {
  const priced = models.flatMap((model) => {
    const offer = model.kind === "text" ? model.offers.find((one) => one.provider === provider) : undefined;
    if (offer === undefined) return [];
    // A model without a price may cost anything.
    const usd = (["input", "output"] as const).map((counter) => priceOf(offer.pricings, counter).item?.value);
    const price = usd.reduce<number>((sum, value) => sum + (value ?? Number.POSITIVE_INFINITY), 0);
    return [{ model, price }];
  });
  return priced.sort((one, other) => one.price - other.price)[0]?.model;
}

async function callOnce(
  model: string,
  { requestId, connection, request }: Pick<AdminCall<unknown, unknown>, "requestId" | "connection" | "request">,
  { gateway, dialects }: ServerContext,
) {
  const body = JSON.stringify({
    model,
    messages: [{ role: "user", content: "Say OK." }],
    max_completion_tokens: MAX_TOKENS,
    provider: { fallback: "false" },
  });
  const sent = new Request("http://gateway/api/v1/chat/completions", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "x-trivium-deadline-ms": String(DEADLINE_MS),
    },
    body,
    signal: request.signal,
  });
  const routed = {
    request: sent,
    requestId,
    connection,
    operator: undefined,
    parameters: {},
    query: new URLSearchParams(),
    dialect: dialects.get("chat"),
    door: "contract",
  } as const;
  const startedMs = gateway.clock.nowMs();
  const result = (receipt: string | null, error: GatewayError | null) => ({
    model: model.slice(0, model.lastIndexOf(":")),
    ok: error === null,
    ms: Math.round(gateway.clock.nowMs() - startedMs),
    receipt,
    error: error === null ? null : { kind: error.kind, message: error.message },
  });
  try {
    const response = await relay({ ...incomingCall("generate", routed), principal: PRINCIPAL }, gateway);
    await response.text();
    return result(response.headers.get("x-trivium-receipt"), null);
  } catch (thrown) {
    const failed = thrown instanceof RelayError;
    return result(
      failed ? (thrown.headers["x-trivium-receipt"] ?? null) : null,
      asGatewayError(failed ? thrown.error : thrown),
    );
  }
}
