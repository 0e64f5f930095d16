import { sharingOf } from "../../access/principal.ts";
import { outlineOf } from "../../dialects/outline-of.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { withoutStoring } from "../../dialects/request/without-storing.ts";
import { newObjectRandom } from "../../objects/object-id.ts";
import type { IncomingCall } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { AnswerSaver } from "../settle/answer-saver.ts";
import type { Recalled } from "./recall.ts";
import type { Requester } from "./resolve-routing.ts";

/** How a response is stored that clients can list and show later, for protocols in which no request continues one. */
export function listAnswer(
  checked: ReceivedRequest,
  { incoming, principal }: Pick<Requester<IncomingCall>, "incoming" | "principal">,
  gateway: Gateway,
): Recalled {
  const { dialect, verb, requestId } = incoming;
  const { listed } = dialect;
  const { answers } = gateway;
  const isKept =
    listed?.keeps(outlineOf(checked)) === true &&
    verb === "generate" &&
    answers.on &&
    answers.fits(checked.characters ?? checked.text.length);
  const saver =
    listed === undefined || !isKept
      ? undefined
      : new AnswerSaver(
          {
            id: listed.makeId(newObjectRandom(gateway.random)),
            project: principal.project,
            keyId: principal.keyId,
            share: sharingOf(principal),
            requestId,
            own: listed.own(checked),
            history: [],
            isKept,
            metadata: listed.metadata(checked.body),
          },
          listed,
          gateway,
        );
  const request = principal.providerObjects
    ? checked
    : withoutStoring(checked, dialect.requests.objects, saver !== undefined);
  return { request, saver, background: false };
}
