import { arrayAt, isObject, type JsonObject, stringAt } from "../../base/json.ts";
import type { GatewayError } from "../../canon/error.ts";
import type { MediaAnswer } from "../../media/adapter.ts";
import { failedAnswer } from "../media-adapters/media-failure.ts";

/** An answer `{ detail }` or `{ message }`; for invalid fields, `detail` is a list of them. */
export function readError(answer: MediaAnswer): GatewayError {
  const { body } = answer;
  const faults = arrayAt(body, "detail").filter(isObject);
  const [first] = faults;
  return failedAnswer(answer, {
    message: stringAt(body, "detail") ?? (faults.map(wordsOf).join("; ") || stringAt(body, "message")),
    path: first && pathOf(first),
  });
}

const wordsOf = (fault: JsonObject): string => `${pathOf(fault)}: ${stringAt(fault, "msg") ?? "not accepted"}`;

/** `loc` begins with the part of the request, which is always its body. */
const pathOf = (fault: JsonObject): string =>
  arrayAt(fault, "loc")
    .filter((step, index) => index > 0 || step !== "body")
    .join(".");
