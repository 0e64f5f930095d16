import type { ReceiptDetail } from "../api/types.ts";
import { duration, known } from "../format/numbers.ts";
import { full } from "../format/time.ts";
import { costWords } from "../state/call-cost.ts";
import { CopyButton, Outcome } from "./basics.tsx";
import { failureSentence } from "./waterfall.tsx";

const Id = ({ name, id }: { name: string; id: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <code>{id}</code>
      <CopyButton text={id} />
    </dd>
  </div>
);

/** What providers said, once each. */
function timesSaid(failed: ReceiptDetail["offers"]): ReadonlyMap<string, number> {
  const said = new Map<string, number>();
  for (const offer of failed) {
    const sentence = `${offer.provider}: ${failureSentence(offer)}`;
    said.set(sentence, (said.get(sentence) ?? 0) + 1);
  }
  return said;
}

/** How the call ended, the error in words, its main figures and its IDs. */
export function CallHead({ call }: { call: ReceiptDetail }) {
  const failed = call.offers.filter(({ outcome }) => outcome === "failed");
  const isError = call.outcome !== "ok" && call.outcome !== "client_gone";
  const cost = costWords(call);
  return (
    <section class="call-head" aria-label="Outcome">
      <p class="ending">
        <Outcome outcome={call.outcome} />
        <span>{full(call.created_at)}</span>
        {call.adjusts !== null && (
          <span>
            corrects <a href={`/calls/${call.adjusts}`}>{call.adjusts}</a>
          </span>
        )}
        {call.stopped_by !== null && <span>stopped by {call.stopped_by}</span>}
      </p>
      {isError && (
        <div class="told">
          <h2>The client got</h2>
          <p>
            {call.error === null ? (
              <span class="muted">The message was not recorded for this call.</span>
            ) : (
              call.error.message
            )}
          </p>
          {call.error !== null && (call.error.path !== null || call.error.code !== null) && (
            <p class="muted small">
              {call.error.code !== null && (
                <>
                  code <code>{call.error.code}</code>{" "}
                </>
              )}
              {call.error.path !== null && (
                <>
                  field <code>{call.error.path}</code>
                </>
              )}
            </p>
          )}
        </div>
      )}
      {failed.length > 0 && (
        <div class={isError ? "told" : "told past"}>
          <h2>{isError ? "The provider said" : "Failed attempts before the response"}</h2>
          <ul>
            {[...timesSaid(failed)].map(([sentence, times]) => (
              <li key={sentence}>
                {sentence}
                {times > 1 && <span class="muted"> ({times} times)</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
      <dl class="figures-of-call">
        <div>
          <dt>Cost</dt>
          <dd title={cost.title}>{cost.text}</dd>
        </div>
        <div>
          <dt>First content</dt>
          <dd>{known(call.first_content_ms, duration)}</dd>
        </div>
        <div>
          <dt>Total time</dt>
          <dd>{duration(call.total_ms)}</dd>
        </div>
        <div>
          <dt>Attempts</dt>
          <dd>{call.offers.length}</dd>
        </div>
      </dl>
      <dl class="ids">
        <Id name="Receipt" id={call.id} />
        {call.request_id !== null && <Id name="Request" id={call.request_id} />}
        {call.trace_id !== null && <Id name="Trace" id={call.trace_id} />}
      </dl>
    </section>
  );
}
