import type { JsonObject } from "../../base/json.ts";
import type { ReceivedRequest } from "../received-request.ts";

/** How a protocol stores responses that are listed and shown later, and that no request continues. */
export interface ListedAnswers {
  /** Whether a request wants its response to be stored. The request has passed the dialect's check. */
  keeps(body: JsonObject): boolean;
  /** The messages of the request, as JSON, which are stored with the response. */
  own(request: ReceivedRequest): string;
  /** Makes the id of a response from random letters and digits. */
  makeId(random: string): string;
  /** What a client attaches to the response. */
  metadata(body: JsonObject): Readonly<Record<string, string>>;
  /** The model that a response names. */
  modelOf(answer: JsonObject): string;
}
