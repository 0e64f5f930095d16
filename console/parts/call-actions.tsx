import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { CapturedBodies, ReceiptDetail } from "../api/types.ts";
import { type CapturedRequest, capturedRequest, curlOf, whyNotRepeatable } from "../state/captured-request.ts";
import { goTo } from "../state/router.ts";
import { CopyButton } from "./basics.tsx";
import { clientsUrl } from "./first-call.tsx";
import { Icon } from "./icon.tsx";

const PLAYABLE = ["chat", "responses", "messages", "genai", "interactions"];

async function read(call: ReceiptDetail): Promise<CapturedRequest> {
  const { data } = await ask<{ data: CapturedBodies }>(`/api/receipts/${encodeURIComponent(call.id)}/bodies`);
  return capturedRequest(call, data);
}

/** What can be done with a call. Reading its request is recorded in the audit log, so it is read when a button is pressed. */
export function CallActions({ call }: { call: ReceiptDetail }) {
  const [told, setTold] = useState("");
  const why = whyNotRepeatable(call, session.value?.role);
  const isPlayable =
    call.verb === "generate" && PLAYABLE.includes(call.dialect.client) && session.value?.role === "admin";
  const act = (work: () => Promise<string>) => () =>
    work().then(setTold, (thrown: unknown) => setTold(thrown instanceof Error ? thrown.message : String(thrown)));
  const copy = act(async () => {
    const [request, base] = await Promise.all([read(call), clientsUrl(new AbortController().signal)]);
    await navigator.clipboard.writeText(curlOf(base, request)).catch(() => {
      throw new Error("The browser does not allow copying.");
    });
    return "Copied. Set TRIVIUM_API_KEY before you run it. The audit log records that you viewed the request.";
  });
  return (
    <div class="call-actions">
      <CopyButton text={JSON.stringify(call, undefined, 2)} label="Copy JSON" />
      <button type="button" class="quiet" disabled={why !== undefined} aria-describedby="repeat" onClick={copy}>
        <Icon name="copy" size={15} /> Copy as curl
      </button>
      {isPlayable && (
        <button
          type="button"
          class="quiet"
          disabled={why !== undefined}
          aria-describedby="repeat"
          onClick={() => goTo(`/play?receipt=${call.id}`)}
        >
          <Icon name="play" size={15} /> Open in playground
        </button>
      )}
      <p id="repeat" class="muted small" role="status">
        {told === "" ? why : told}
      </p>
    </div>
  );
}
