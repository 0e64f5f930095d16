import type { CanonEvent } from "../../canon/event.ts";
import type { Usage } from "../../canon/usage.ts";
import type { StreamDecoder, StreamEncoder } from "../../dialects/codec.ts";
import { quirksOf } from "../../dialects/quirks.ts";
import type { SseFrame } from "../../wire/sse.ts";
import { CallAnswerContext } from "../answer/answer-context.ts";
import type { Call, LaneAttempt } from "../call.ts";
import type { Gateway } from "../gateway.ts";

/** Why a response ends that a guard has stopped. */
export const GUARD_STOP = { unified: "filter", raw: "content_filter" } as const;

type Ending = Extract<CanonEvent, { type: `${string}-end` }>["type"];

/**
 * The end of a stream that a guard has stopped, in the client's protocol. It reads what the client has received, so that it can close
 * what is open, with the same id and numbers.
 */
export class FilterStop {
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  readonly #open = new Map<number, Ending>();
  #isLost = false;

  constructor(call: Call, gateway: Gateway, attempt: LaneAttempt) {
    const { dialect } = call.incoming;
    this.#decoder = dialect.codec.createStreamDecoder({
      origin: attempt.target.origin,
      quirks: quirksOf(dialect.name),
      reading: {},
      makeId: gateway.random.id,
    });
    // What it ends with is stored like any response.
    const context = new CallAnswerContext(call, gateway, attempt, { isEnding: true });
    this.#encoder = dialect.codec.createStreamEncoder(
      Object.assign(context, {
        estimateInputTokens: () => dialect.requests.estimateTokens(call.body),
        note: () => {},
      }),
    );
  }

  /** Reads an event that the client was sent. */
  read(frame: SseFrame): void {
    if (this.#isLost || frame.data === undefined || frame.data === "") return;
    try {
      for (const event of this.#decoder.push(frame)) {
        if (event.type === "finish" || event.type === "error") continue;
        this.#follow(event);
        this.#encoder.push(event);
      }
      this.#encoder.follow?.(frame);
    } catch {
      this.#isLost = true;
    }
  }

  #follow(event: CanonEvent): void {
    if (!("block" in event)) return;
    const ending = ENDINGS[event.type];
    if (ending !== undefined) this.#open.set(event.block, ending);
    else if (event.type.endsWith("-end")) this.#open.delete(event.block);
  }

  /** The rest of the stream; undefined if it cannot be written. */
  write(usage: Usage | undefined): string | undefined {
    if (this.#isLost) return undefined;
    try {
      let text = "";
      for (const [block, type] of this.#open) text += this.#encoder.push({ type, block });
      if (usage !== undefined) text += this.#encoder.push({ type: "usage", usage });
      return text + this.#encoder.push({ type: "finish", stop: GUARD_STOP });
    } catch {
      return undefined;
    }
  }
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  "text-start": "text-end",
  "reasoning-start": "reasoning-end",
  "refusal-start": "refusal-end",
  "tool-input-start": "tool-input-end",
};
