import type { JsonObject } from "../../../base/json.ts";
import { objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { TokenLogprob } from "../../../canon/reply.ts";
import type { Stop } from "../../../canon/stop.ts";
import type { Usage } from "../../../canon/usage.ts";
import { stringifyInOrder } from "../../../wire/ordered-json.ts";
import { noteFinish } from "../../answer/note-finish.ts";
import { explainStop } from "../../answer/stop-details.ts";
import type { EncodeAnswerContext } from "../../codec.ts";
import type { GenaiOptions } from "../options.ts";
import type { GroundingWriter } from "./grounding.ts";
import { encodeLogprobs } from "./logprobs.ts";
import { bareFinishReason, encodeStop } from "./stop-reason.ts";
import { encodeUsage } from "./usage.ts";

/** The fields that every chunk of a response shares: its id, its model, and the time of the request. */
export class AnswerEnvelope {
  readonly #context: EncodeAnswerContext<GenaiOptions>;
  readonly #createTime: string;
  #id: string | undefined;

  constructor(context: EncodeAnswerContext<GenaiOptions>) {
    this.#context = context;
    this.#createTime = new Date(context.receivedAtMs).toISOString();
  }

  /** Sets the upstream's id, if it is known before the first chunk. */
  name(id: string | undefined): void {
    this.#id ??= id;
  }

  /** The JSON text of one chunk, or of a complete response. */
  wrap(candidate: JsonObject, usage?: Usage): string {
    this.#id ??= this.#context.makeId();
    return stringifyInOrder({
      candidates: [{ ...candidate, index: 0 }],
      ...(usage === undefined ? {} : { usageMetadata: encodeUsage(usage) }),
      modelVersion: this.#context.publicModel,
      createTime: this.#createTime,
      responseId: this.#id,
    });
  }
}

/** The client does not want to see thoughts, but must get their signatures. */
export const hidesThoughts = ({ request }: EncodeAnswerContext<GenaiOptions>): boolean =>
  objectAt(objectAt(request, "generationConfig"), "thinkingConfig")?.["includeThoughts"] === false;

interface Closing {
  stop: Stop;
  stopDetail?: string;
  stopCategory?: string;
  /** The model declined in words, which this protocol expresses only by the finish reason. */
  refused: boolean;
  grounding: GroundingWriter;
  logprobs: readonly TokenLogprob[];
}

/** The fields that the end of a response adds to its candidate. */
export function encodeClosing(
  { stop, stopDetail, stopCategory, refused, grounding, logprobs }: Closing,
  { options: { bareFinishReason: bare }, note }: EncodeAnswerContext<GenaiOptions>,
): JsonObject {
  noteFinish({ stop }, note, { without: ["pause"], explained: true });
  const reported: Stop = refused && stop.unified !== "filter" ? { unified: "filter", raw: "" } : stop;
  // The protocol has one text for both.
  const finishReason = encodeStop(reported, bare);
  const isOwn = bareFinishReason(finishReason) === bareFinishReason(stop.raw);
  const detail = isOwn ? stopDetail : explainStop({ stop, ...withoutAbsent({ stopDetail }) });
  const explanation = [stopCategory, detail].filter((text) => text !== undefined).join(": ");
  return {
    finishReason,
    ...(explanation === "" ? {} : { finishMessage: explanation }),
    ...grounding.metadata(),
    ...encodeLogprobs(logprobs),
  };
}
