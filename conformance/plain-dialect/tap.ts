import { parseObject, stringAt } from "../../src/base/json.ts";
import { eventWeight } from "../../src/base/text-weight.ts";
import { GatewayError } from "../../src/canon/error.ts";
import { TapBase } from "../../src/dialects/answer/tap-base.ts";
import type { SseFrame } from "../../src/wire/sse.ts";
import { decodeError } from "./errors.ts";
import { decodeStop } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

/** Events pass unchanged; what the receipt needs is read from them. */
export class PlainTap extends TapBase {
  protected frame({ raw, data }: SseFrame): string {
    if (data === undefined) return raw;
    const body = parseObject(data);
    if (body === undefined) throw new GatewayError("upstream_failed", "The provider sent no JSON.");
    if (body["problem"] !== undefined) throw decodeError({ status: 500, body: data });
    const [text, why] = [stringAt(body, "text"), stringAt(body, "why")];
    if (text !== undefined) {
      this.contentSeen = true;
      this.generatedCharacters += eventWeight(text);
    }
    if (why !== undefined) {
      this.stop = decodeStop(why);
      this.usageSeen = decodeUsage(body["tokens"]);
      this.state = "ended";
    }
    return raw;
  }
}
