import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { GatewayError } from "../../../canon/error.ts";
import type { CanonReply, ReplyPart } from "../../../canon/reply.ts";
import { reportModel, reportTerms } from "../../../canon/terms.ts";
import { countsNothing } from "../../../canon/usage.ts";
import type { DecodeAnswerContext } from "../../codec.ts";
import { decodeStep } from "./decode-step.ts";
import { decodeErrorObject } from "./errors.ts";
import { HostedToolUses } from "./hosted-tool-uses.ts";
import { decodeStop, failureIn } from "./stop-reason.ts";
import { decodeUsage } from "./usage.ts";

export function decodeResponse(body: JsonObject, context: DecodeAnswerContext): CanonReply {
  failIfNoAnswer(body);
  const ids = new CallIds(context.makeId);
  const parts = arrayAt(body, "steps").flatMap((step) =>
    isObject(step) ? decodeStep(step, context).map((part) => ids.distinct(part)) : [],
  );
  const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
  reportModel(context.served, body["model"]);
  reportTerms(context.served, body["service_tier"]);
  const hasCalls = parts.some((part) => part.type === "tool-call");
  const stop = decodeStop(body, hasCalls);
  return { ...decodeMetadata(body), parts, stop, ...withoutAbsent({ usage, stopDetail: stopDetailOf(body) }) };
}

/** The explanation of a response that was cut off. */
export const stopDetailOf = (interaction: JsonObject): string | undefined =>
  stringAt(arrayAt(interaction, "errors")[0], "message");

/** Hosts may omit ids or give one id to several calls; clients distinguish calls only by id (H03, H10). */
export class CallIds {
  readonly #makeId: () => string;
  readonly #seen = new Set<string>();

  constructor(makeId: () => string) {
    this.#makeId = makeId;
  }

  distinct(part: ReplyPart): ReplyPart {
    return part.type === "tool-call" ? { ...part, id: this.take(part.id) } : part;
  }

  take(given: string): string {
    const id = given !== "" && !this.#seen.has(given) ? given : `call_${this.#makeId()}`;
    this.#seen.add(id);
    return id;
  }
}

/** Throws if an interaction with a success status has an error or has not ended. */
export function failIfNoAnswer(body: JsonObject): void {
  const failure = objectAt(body, "error") === undefined ? failureIn(body) : decodeErrorObject(body, 200);
  if (failure !== undefined) {
    const usage = HostedToolUses.in(body).addTo(decodeUsage(body["usage"]));
    throw usage === undefined || countsNothing(usage) ? failure : failure.withFailure({ usage });
  }
  if (!Array.isArray(body["steps"]) && stringAt(body, "status") === undefined)
    throw new GatewayError("upstream_failed", "The provider's response has no steps.");
}

/** The id is empty if the host does not store the interaction. */
export function decodeMetadata(interaction: JsonObject): { id?: string; created?: number } {
  const id = stringAt(interaction, "id");
  const created = Date.parse(stringAt(interaction, "created") ?? "");
  return { ...(id ? { id } : {}), ...(Number.isNaN(created) ? {} : { created: Math.floor(created / 1000) }) };
}
