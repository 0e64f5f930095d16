import { useEffect, useState } from "preact/hooks";
import type { CatalogueModel } from "../api/types.ts";
import { samplesOf } from "../play/code.ts";
import { inCode, type Turn } from "../play/conversation.ts";
import { VOICE } from "../play/protocols.ts";
import { type PlayRequest, type PlaySettings, type Protocol, requestOf } from "../play/request.ts";
import { Choice, Code } from "./basics.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { AnswerContent, AnswerFigures } from "./play-answer.tsx";
import { VoicePanel } from "./voice-panel.tsx";

interface ColumnProps {
  /** Unique on the page. */
  id: string;
  name: string;
  models: readonly CatalogueModel[];
  model: CatalogueModel | undefined;
  protocols: readonly (Protocol | typeof VOICE)[];
  protocol: Protocol | typeof VOICE | undefined;
  turns: readonly Turn[];
  /** What the next *Send* sends, apart from an edited body; undefined for voice. */
  settings: PlaySettings | undefined;
  request: PlayRequest | undefined;
  edited: string | undefined;
  problem: string;
  base: string;
  instructions: string;
  apiKey: string;
  /** The tab shown first. */
  first: Tab;
  onEdit: (body: string | undefined) => void;
  onModel: (model: string) => void;
  onProtocol: (protocol: Protocol | typeof VOICE) => void;
}

export type Tab = "answer" | "events" | "receipt" | "request" | "code";
const TABS: readonly { value: Tab; name: string }[] = [
  { value: "answer", name: "Response" },
  { value: "request", name: "Request" },
  { value: "events", name: "Events" },
  { value: "receipt", name: "Receipt" },
  { value: "code", name: "Code" },
];

function Conversation({ id, turns, model }: Pick<ColumnProps, "id" | "turns" | "model">) {
  const shown = turns.filter(({ answers }) => answers[id] !== undefined);
  if (shown.length === 0) return <p class="muted">Responses appear here.</p>;
  return (
    <ol class="turns">
      {shown.map(({ id: turn, prompt, attached, answers }) => {
        const answer = answers[id];
        return (
          answer !== undefined && (
            <li key={turn}>
              <p class="asked">
                {prompt || "(the edited request)"}
                {attached.length > 0 && (
                  <span class="muted small block">{attached.map(({ name }) => name).join(", ")}</span>
                )}
              </p>
              {answer.model !== model?.id && <p class="muted small">{answer.model}</p>}
              <AnswerContent answer={answer} />
              <AnswerFigures answer={answer} model={model?.id === answer.model ? model : undefined} />
            </li>
          )
        );
      })}
    </ol>
  );
}

function Request({ request, edited, problem, onEdit }: Pick<ColumnProps, "request" | "edited" | "problem" | "onEdit">) {
  return (
    <>
      <p class="small">
        <code>POST {request?.path}</code>
      </p>
      <textarea
        class="mono"
        rows={14}
        spellcheck={false}
        aria-label="Request body"
        value={edited ?? JSON.stringify(request?.body, undefined, 2)}
        onInput={(event) => onEdit(event.currentTarget.value)}
      />
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {edited !== undefined && (
        <p class="small">
          <span class="muted">This body is sent as it is. The prompt, earlier turns and settings are not used. </span>
          <button type="button" onClick={() => onEdit(undefined)}>
            Reset
          </button>
        </p>
      )}
    </>
  );
}

/** An edited body, unless it is not an object. */
function bodyIn(edited: string | undefined): PlayRequest["body"] | undefined {
  try {
    const read: unknown = JSON.parse(edited ?? "");
    return typeof read === "object" && read !== null ? { ...read } : undefined;
  } catch {
    return undefined;
  }
}

function Samples({ settings: next, turns, edited, base }: Pick<ColumnProps, "settings" | "turns" | "edited" | "base">) {
  const [sample, setSample] = useState("curl");
  const settings = next && inCode(next, turns);
  const request = settings && requestOf(settings);
  const body = bodyIn(edited) ?? request?.body;
  const samples = settings && request && body ? samplesOf(base, settings, { ...request, body }) : [];
  const shown = samples.find((one) => one.name === sample) ?? samples[0];
  return (
    <>
      <label>
        <span class="muted">Client</span>{" "}
        <select value={sample} onChange={(event) => setSample(event.currentTarget.value)}>
          {samples.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      {shown?.name !== "curl" && settings !== undefined && settings.history.length > 0 && (
        <p class="muted small">The code has the prompt alone. The sample for curl has the earlier turns, too.</p>
      )}
      <Code text={shown?.code ?? ""} />
    </>
  );
}

/** One model: which, in which protocol, and what came of it. */
export function PlayColumn(props: ColumnProps) {
  const { id, name, models, model, protocols, protocol, turns, problem, first, onModel, onProtocol } = props;
  const [tab, setTab] = useState<Tab>(first);
  const latest = turns.findLast(({ answers }) => answers[id] !== undefined)?.answers[id];
  const sent = turns.length;
  useEffect(() => {
    // A new answer is what the reader waits for.
    if (sent > 0) setTab((now) => (now === "events" ? now : "answer"));
  }, [sent]);
  useEffect(() => {
    if (problem !== "") setTab("request");
  }, [problem]);
  return (
    <section class="panel play-column" aria-label={name}>
      <header>
        <ModelPicker label={name} id={id} models={models} value={model?.id ?? ""} onChoose={onModel} />
        <label>
          <span class="unseen">Protocol</span>
          <select
            value={protocol ?? ""}
            disabled={protocols.length === 0}
            onChange={(event) => onProtocol(event.currentTarget.value as Protocol | typeof VOICE)}
          >
            {protocols.length === 0 && <option value="">none here</option>}
            {protocols.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </header>
      {protocol === VOICE && model !== undefined ? (
        <VoicePanel model={model.id} instructions={props.instructions} apiKey={props.apiKey} />
      ) : protocol === undefined ? (
        <p class="play-body muted">The playground has no protocol for models of this kind.</p>
      ) : (
        <>
          <div class="padded-x">
            <Choice label="View" options={TABS} value={tab} onChange={setTab} />
          </div>
          <section
            class="play-body"
            tabIndex={0}
            aria-label={`${name}: ${TABS.find(({ value }) => value === tab)?.name}`}
          >
            {tab === "answer" && <Conversation id={id} turns={turns} model={model} />}
            {tab === "request" && <Request {...props} />}
            {tab === "events" &&
              (latest !== undefined && latest.progress.raw.length > 0 ? (
                <Code text={latest.progress.raw.join("\n")} />
              ) : (
                <p class="muted">No events yet.</p>
              ))}
            {tab === "receipt" &&
              (latest?.receipt !== undefined ? (
                <Code text={JSON.stringify(latest.receipt, undefined, 2)} />
              ) : (
                <p class="muted">The receipt is available after the call ends.</p>
              ))}
            {tab === "code" && <Samples {...props} />}
          </section>
        </>
      )}
    </section>
  );
}
