import { isObject } from "../base/json.ts";
import { parseInOrder, stringifyInOrder } from "../wire/ordered-json.ts";
import type { ReceivedRequest } from "./received-request.ts";

/**
 * The request with its body replaced by `change(body)`. An unchanged body keeps its bytes. In the text of a new one, keys keep
 * their order and numbers their digits (H05), but not in the checked body.
 */
export function rewriteRequest(
  request: ReceivedRequest,
  body: unknown,
  change: (exact: unknown) => unknown,
): ReceivedRequest {
  if (body === request.body) return request;
  const exact = parseInOrder(request.text, request.body);
  const written = exact === request.body ? body : change(exact);
  return { text: stringifyInOrder(written), body: isObject(body) ? body : {} };
}
