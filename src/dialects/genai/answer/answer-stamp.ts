import { type JsonObject, stringAt } from "../../../base/json.ts";
import type { AnswerContext } from "../../answer/answer-context.ts";

/** Fields of every response and chunk (contract 2.7) that the host may omit. */
const FIELDS = ["createTime", "responseId"] as const;

export class AnswerStamp {
  readonly #context: AnswerContext;
  readonly #values: { createTime?: string; responseId?: string } = {};

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  /** The fields that a chunk lacks, as JSON text by name. A value in one chunk applies to the chunks after it. */
  lacking(chunk: JsonObject): Record<string, string> {
    const lacking: Record<string, string> = {};
    for (const field of FIELDS) {
      const reported = stringAt(chunk, field);
      if (reported) this.#values[field] ??= reported;
      else lacking[field] = JSON.stringify(this.#values[field] ?? this.#make(field));
    }
    return lacking;
  }

  #make(field: (typeof FIELDS)[number]): string {
    const made = field === "responseId" ? this.#context.makeId() : new Date(this.#context.receivedAtMs).toISOString();
    this.#values[field] = made;
    return made;
  }
}
