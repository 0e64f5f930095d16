import { type JsonObject, stringAt } from "../../../base/json.ts";
import type { AnswerContext } from "../../answer/answer-context.ts";

/** What every answer and every chunk of one says of itself (contract 2.7), where its host does not. */
const FIELDS = ["createTime", "responseId"] as const;

export class AnswerStamp {
  readonly #context: AnswerContext;
  readonly #values: { createTime?: string; responseId?: string } = {};

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  /** What a chunk lacks, as JSON texts by name. What one chunk has holds for those after it. */
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

/** Whether a text of chunks has just those of these fields that are not lacking, as far as their names tell. */
export const hasAllBut = (lacking: Readonly<Record<string, string>>, chunks: string): boolean =>
  FIELDS.every((field) => chunks.includes(`"${field}"`) !== field in lacking);
