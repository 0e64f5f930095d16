import { useMemo, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { CapturedBodies, CapturedBody, ReceiptDetail } from "../api/types.ts";
import { counted } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { diffOf, nearChanges } from "../state/diff.ts";
import { layOut } from "../state/lay-out.ts";
import { Choice, Code, Problem } from "./basics.tsx";
import { CapturedMedia } from "./captured-media.tsx";

const VIEWS = [
  { value: "request", name: "Request: what changed" },
  { value: "client_request", name: "as it came" },
  { value: "provider_request", name: "as it went out" },
  { value: "answer", name: "Answer: what changed" },
  { value: "provider_answer", name: "as it came back" },
  { value: "client_answer", name: "as the client got it" },
] as const;

type View = (typeof VIEWS)[number]["value"];

/** What came and went, where the key has it kept. It is read when it is asked for, since each view is on record. */
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
    <section class="panel bodies">
      <h2>Bodies</h2>
      <div class="padded">
        {error && <Problem error={error} />}
        {bodies === undefined ? (
          <Unread onShow={show} />
        ) : (
          <>
            <p class="muted">
              Kept until {full(bodies.expires_at)}, without credentials
              {bodies.media.length === 0 ? " and media" : "; images and sounds are below"}.
            </p>
            <Choice label="Which body" options={VIEWS} value={view} onChange={setView} />
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
    <p class="muted">The bodies of this call are kept. They are not for viewers.</p>
  ) : (
    <p>
      <button type="button" onClick={onShow}>
        Show what was said
      </button>{" "}
      <span class="muted">The audit log says who has looked.</span>
    </p>
  );

function Shown({ bodies, view }: { bodies: CapturedBodies; view: View }) {
  if (view === "request") return <Changed before={bodies.client_request} after={bodies.provider_request} />;
  if (view === "answer") return <Changed before={bodies.provider_answer} after={bodies.client_answer} />;
  const body = bodies[view];
  if (body === null) return <p class="muted">There was none.</p>;
  return (
    <>
      <Code text={layOut(body.text)} />
      <p class="muted">
        {counted(body.bytes, "byte")}
        {body.cut && "; the end of it was too long to be kept"}
      </p>
    </>
  );
}

const SIGNS = { same: " ", removed: "−", added: "+" } as const;

function Changed({ before, after }: { before: CapturedBody | null; after: CapturedBody | null }) {
  const lines = useMemo(() => diffOf(layOut(before?.text ?? ""), layOut(after?.text ?? "")), [before, after]);
  if (before === null || after === null) return <p class="muted">There is only one side.</p>;
  if (lines.every(({ kind }) => kind === "same")) return <p class="muted">Nothing: both sides are the same.</p>;
  return (
    <div class="code">
      <pre tabIndex={0} class="diff">
        {nearChanges(lines).map((line, index) =>
          line.kind === "skipped" ? (
            <span key={index} class="muted">
              {`  … ${line.count} ${line.count === 1 ? "line is" : "lines are"} the same\n`}
            </span>
          ) : (
            <span key={index} class={line.kind}>
              {`${SIGNS[line.kind]} ${line.text}\n`}
            </span>
          ),
        )}
      </pre>
    </div>
  );
}
