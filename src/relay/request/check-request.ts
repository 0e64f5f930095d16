import type { ReceivedRequest } from "../../dialects/received-request.ts";

type Check = (request: ReceivedRequest) => ReceivedRequest;

/**
 * Checks a request by its outline if it has one. If the check refuses or changes that, it is repeated with the whole request, whose
 * error may quote a text.
 */
export function checkRequest(received: ReceivedRequest, check: Check): ReceivedRequest {
  const { outline } = received;
  if (outline === undefined) return check(received);
  return isSound(received, outline.body, check) ? received : check({ ...received, outline: undefined });
}

function isSound(received: ReceivedRequest, body: ReceivedRequest["body"], check: Check): boolean {
  const request: ReceivedRequest = {
    body,
    get text() {
      return received.text;
    },
  };
  try {
    return check(request) === request;
  } catch {
    return false;
  }
}
