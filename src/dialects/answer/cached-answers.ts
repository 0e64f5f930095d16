import type { JsonObject } from "../../base/json.ts";

/** The path of a value in a response or in an event of a stream. */
export type AnswerPath = readonly string[];

/** What the cache of responses must know of a protocol. */
export interface CachedAnswers {
  /** Fields of requests that cannot change the response, each with the reason. All others count, whether they are known or not. */
  readonly ignored: Readonly<Record<string, string>>;
  /** Whether the host uses tools or a container that `billables` does not list, so that the response depends on them. Absent: never. */
  readonly asksOthers?: (body: JsonObject) => boolean;
  /** Where responses and events have the id of the response. Ids of its parts stay, because sealed values may be bound to them. */
  readonly ids: readonly AnswerPath[];
  /** Where they have times, as seconds or as a timestamp. */
  readonly times: readonly AnswerPath[];
}
