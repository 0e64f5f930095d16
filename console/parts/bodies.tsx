import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { CapturedBodies, ReceiptDetail } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { layOut } from "../state/lay-out.ts";
import { Choice, Code, Problem } from "./basics.tsx";
import { BodyDiff } from "./body-diff.tsx";
import { CapturedMedia } from "./captured-media.tsx";

const VIEWS = [
  { value: "request", name: "Request diff" },
  { value: "client_request", name: "Client request" },
  { value: "provider_request", name: "Provider request" },
  { value: "answer", name: "Response diff" },
  { value: "provider_answer", name: "Provider response" },
  { value: "client_answer", name: "Client response" },
] as const;

type View = (typeof VIEWS)[number]["value"];

/** The captured bodies of a call. They are loaded on request, because every view is recorded in the audit log. */
export function Bodies({ call }: { call: Pick<ReceiptDetail, "id" | "captured"> }) {
  const [bodies, setBodies] = useState<CapturedBodies | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const [view, setView] = useState<View>("request");
  if (!call.captured) return null;
  const show = () =>
    ask<{ data: CapturedBodies }>(`/api/receipts/${encodeURIComponent(call.id)}/bodies`).then(
      ({ data }) => {
        setBodies(data);
        setError(undefined);
      },
      (thrown: unknown) => setError(thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
  return (
    <section class="panel bodies" aria-labelledby="bodies">
      <h2 id="bodies">Bodies</h2>
      <div class="padded">
        {error && <Problem error={error} />}
        {bodies === undefined ? (
          <Unread onShow={show} />
        ) : (
          <>
            <p class="muted">
              Stored until {full(bodies.expires_at)}.{" "}
              {bodies.media.length === 0
                ? "Credentials and media are removed."
                : "Credentials are removed; images and audio are shown below."}
            </p>
            <Choice label="View" options={VIEWS} value={view} onChange={setView} />
            <Shown bodies={bodies} view={view} />
            {bodies.media.length > 0 && <CapturedMedia media={bodies.media} />}
          </>
        )}
      </div>
    </section>
  );
}

const Unread = ({ onShow }: { onShow: () => void }) =>
  session.value?.role === "viewer" ? (
    <p class="muted">Bodies were captured for this call. Viewers cannot read them.</p>
  ) : (
    <p>
      <button type="button" onClick={onShow}>
        Show bodies
      </button>{" "}
      <span class="muted">Access is recorded in the audit log.</span>
    </p>
  );

function Shown({ bodies, view }: { bodies: CapturedBodies; view: View }) {
  if (view === "request") return <BodyDiff before={bodies.client_request} after={bodies.provider_request} />;
  if (view === "answer") return <BodyDiff before={bodies.provider_answer} after={bodies.client_answer} />;
  const body = bodies[view];
  if (body === null) return <p class="muted">No body was captured.</p>;
  return (
    <>
      <Code text={layOut(body.text)} />
      <p class="muted">
        {counted(body.bytes, "byte")}
        {body.cut && ", truncated"}
      </p>
    </>
  );
}
