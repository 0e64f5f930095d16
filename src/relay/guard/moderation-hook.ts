import { arrayAt, isObject, objectAt, parseObject } from "../../base/json.ts";
import { withTimeout } from "../../base/with-timeout.ts";
import type { GuardSettings } from "../../canon/guard/guard-settings.ts";
import { HookError, type TextHook } from "../../guards/text-hook.ts";
import { NO_CONNECTION } from "../background.ts";
import type { IncomingRequest } from "../call.ts";
import { relayModerations } from "../service/moderations.ts";
import type { GuardAsker } from "./guard-asker.ts";
import { HookCircuit } from "./hook-circuit.ts";

const REPLACEMENT = "[redacted:moderation]";

/** Asks a moderation model of the catalogue. It is a call of the same key, with a receipt of its own (decision 0124). */
export function moderationHook({ model = "", action, timeoutMs }: GuardSettings): TextHook {
  const circuit = new HookCircuit();
  return async ({ texts }, asker) => {
    const { gateway } = asker as GuardAsker;
    const body = JSON.stringify({ model, input: texts.map(({ text }) => text) });
    const late = () => new HookError(`the moderation model did not answer within ${timeoutMs} ms`);
    const results = await circuit.run(gateway.clock, () =>
      withTimeout(moderate(body, asker as GuardAsker), timeoutMs, gateway.clock, late),
    );
    if (results.length !== texts.length) throw new HookError("the moderation model did not answer for every text");
    const flagged = results.flatMap((result, place) => (isObject(result) && result["flagged"] === true ? [place] : []));
    if (flagged.length === 0) return { verdict: "allow" };
    const reason = [...new Set(flagged.flatMap((place) => categoriesOf(results[place])))].sort().join(", ");
    if (action !== "redact") return { verdict: "block", reason };
    return { verdict: "replace", reason, replacements: new Map(flagged.map((place) => [place, REPLACEMENT])) };
  };
}

async function moderate(body: string, { gateway, principal, incoming }: GuardAsker): Promise<readonly unknown[]> {
  // The operator chose the model, whatever the key may call. Nothing of it is captured.
  const { protocols: _protocols, capture: _capture, maker: _maker, ...rest } = principal;
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const asking: IncomingRequest = {
    request: new Request("http://gateway/v1/moderations", { method: "POST", headers, body }),
    requestId: incoming.requestId,
    connection: { ...NO_CONNECTION },
    credential: undefined,
    principal: { ...rest, models: ["*"] },
    dialect: incoming.dialect,
    door: "contract",
    naming: { vendorNames: false },
    strict: false,
    require: incoming.require,
    isOfGuard: true,
  };
  try {
    const response = await relayModerations(asking, gateway);
    return arrayAt(parseObject(await response.text()), "results");
  } catch (thrown) {
    throw new HookError("the moderation model failed", { cause: thrown });
  }
}

const categoriesOf = (result: unknown): string[] =>
  Object.entries(objectAt(result, "categories") ?? {}).flatMap(([name, is]) => (is === true ? [name] : []));
