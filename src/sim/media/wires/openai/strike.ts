import type { Exchange } from "../../../exchange.ts";
import type { HostError } from "../../../host-error.ts";
import { pause } from "../../../play.ts";
import { openaiFailure } from "../../../wires/openai/errors.ts";
import type { Fate } from "../../fate.ts";

const SLOW_MS = 5_000;

/** The fates that strike before anything is made. */
export function strike(fate: Fate | undefined, model: string, blocked: HostError): Response | undefined {
  switch (fate) {
    case "blocked":
      throw blocked;
    case "busy":
      throw openaiFailure("429", model);
    case "broken":
      throw openaiFailure("500", model);
    case "overloaded":
      throw openaiFailure("503", model);
    case "garbage":
      return new Response("<html><body><h1>Bad gateway</h1></body></html>", {
        headers: { "content-type": "text/html" },
      });
    default:
      return undefined;
  }
}

/** Where the answer itself is waited for, a slow job is a slow answer. */
export async function takeTime(fate: Fate | undefined, exchange: Exchange): Promise<void> {
  if (fate !== "slow") return;
  await pause(SLOW_MS, exchange.signal);
  if (exchange.signal.aborted) exchange.ended("client gone");
}
