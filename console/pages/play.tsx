import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../api/client.ts";
import type { CatalogueModel } from "../api/types.ts";
import { Empty, PageHead } from "../parts/basics.tsx";
import { Composer } from "../parts/composer.tsx";
import { clientsUrl } from "../parts/first-call.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { PlayColumn } from "../parts/play-column.tsx";
import { PlaySettings } from "../parts/play-settings.tsx";
import { useData } from "../parts/use-data.ts";
import { type Answer, pastOf, type Turn, withAnswer } from "../play/conversation.ts";
import { type CapturedRequest, capturedRequest } from "../play/from-capture.ts";
import { offeredBy, VOICE } from "../play/protocols.ts";
import { receiptOf } from "../play/receipt-of.ts";
import {
  type Attached,
  hasTurns,
  type PlayRequest,
  type Protocol,
  requestOf,
  type PlaySettings as Settings,
} from "../play/request.ts";
import { type Progress, play } from "../play/send.ts";
import { type Knobs, NO_SETTINGS, promptLabel } from "../play/settings.ts";
import { allModels } from "../state/catalogue-lists.ts";
import { goTo, place, setQuery } from "../state/router.ts";

/** Query parameters of each column. */
const COLUMNS = [
  { id: "model", protocol: "protocol", name: "Model" },
  { id: "model2", protocol: "protocol2", name: "Second model" },
] as const;

const FIRST_PROMPT = "Name three roads that meet.";

interface Column {
  id: string;
  protocolName: string;
  name: string;
  model: CatalogueModel | undefined;
  protocols: readonly (Protocol | typeof VOICE)[];
  protocol: Protocol | typeof VOICE | undefined;
}

const usualOf = (models: readonly CatalogueModel[]): string =>
  (models.find(({ id }) => id === "sim/standard") ?? models.find(({ kind }) => kind === "text"))?.id ?? "";

function columnsOf(models: readonly CatalogueModel[], captured: CapturedRequest | undefined): Column[] {
  const { query } = place.value;
  const count = query.get("model2") === null ? 1 : 2;
  return COLUMNS.slice(0, count).map(({ id, protocol: protocolName, name }, at) => {
    const ofCall = at === 0 ? captured : undefined;
    const wanted = query.get(id) || ofCall?.model || usualOf(models);
    const model = models.find((one) => one.id === wanted || one.aliases.includes(wanted));
    const protocols = offeredBy(model);
    const asked = query.get(protocolName) ?? ofCall?.protocol;
    const protocol = protocols.find((one) => one === asked) ?? protocols[0];
    return { id, protocolName, name: count === 2 && at === 0 ? "First model" : name, model, protocols, protocol };
  });
}

function acceptedBy(columns: readonly Column[]): string[] {
  const takes = (modality: string) =>
    columns.some(
      ({ model, protocol }) =>
        protocol !== undefined &&
        protocol !== VOICE &&
        hasTurns(protocol) &&
        (model?.input_modalities ?? []).includes(modality),
    );
  return [...(takes("image") ? ["image/*"] : []), ...(takes("file") ? ["application/pdf"] : [])];
}

interface PlaygroundProps {
  models: readonly CatalogueModel[];
  captured: CapturedRequest | undefined;
  base: string;
}

function Playground({ models, captured, base }: PlaygroundProps) {
  const columns = columnsOf(models, captured);
  const [knobs, setKnobs] = useState<Knobs>({ ...NO_SETTINGS, stream: captured?.stream ?? true });
  const [prompt, setPrompt] = useState(captured?.body === undefined ? FIRST_PROMPT : "");
  const [attached, setAttached] = useState<readonly Attached[]>([]);
  const [apiKey, setApiKey] = useState("");
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [editing, setEditing] = useState<number | undefined>(undefined);
  const [edited, setEdited] = useState<Readonly<Record<string, string | undefined>>>({ model: captured?.body });
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const calling = columns.filter(
    (one): one is Column & { model: CatalogueModel; protocol: Protocol } =>
      one.model !== undefined && one.protocol !== undefined && one.protocol !== VOICE,
  );
  const past = editing === undefined ? turns : turns.filter(({ id }) => id < editing);
  const settingsOf = ({ id, model, protocol }: (typeof calling)[number]): Settings => ({
    ...knobs,
    model: model.id,
    protocol,
    history: hasTurns(protocol) ? pastOf(past, id) : [],
    prompt,
    attached: hasTurns(protocol) ? attached : [],
  });
  const isRunning = turns.some(({ answers }) =>
    Object.values(answers).some((answer) => answer?.progress.state === "running"),
  );

  const call = async (turn: number, column: string, request: PlayRequest, of: Settings, signal: AbortSignal) => {
    let answer: Answer | undefined;
    const show = (changes: Partial<Answer> & { progress: Progress }) => {
      const sent = JSON.stringify(request.body).length;
      answer = { model: of.model, receipt: undefined, sent, ...answer, ...changes };
      const shown = answer;
      setTurns((before) => withAnswer(before, turn, column, shown));
    };
    await play({
      protocol: of.protocol,
      model: of.model,
      request,
      key: apiKey,
      signal,
      onProgress: (progress) => show({ progress }),
    });
    const progress = (answer as Answer | undefined)?.progress;
    if (progress?.receipt === undefined) return;
    const receipt = await receiptOf(progress.receipt);
    if (receipt !== undefined) show({ progress, receipt });
  };

  const send = () => {
    const wrong: Record<string, string> = {};
    const ready = calling.map((column) => {
      const settings = settingsOf(column);
      const made = requestOf(settings);
      const own = edited[column.id];
      if (own === undefined) return { column, settings, request: made };
      try {
        return { column, settings, request: { ...made, body: JSON.parse(own) as Record<string, unknown> } };
      } catch (thrown) {
        wrong[column.id] = `The body is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
        return { column, settings, request: made };
      }
    });
    setProblems(wrong);
    if (Object.keys(wrong).length > 0) return;
    const controller = new AbortController();
    abort.current = controller;
    const id = (turns.at(-1)?.id ?? 0) + 1;
    const isEdited = ready.every(({ column }) => edited[column.id] !== undefined);
    setTurns([...past, { id, prompt: isEdited ? "" : prompt, attached, answers: {} }]);
    setEditing(undefined);
    if (!isEdited && ready.some(({ column }) => hasTurns(column.protocol))) {
      setPrompt("");
      setAttached([]);
    }
    for (const { column, settings, request } of ready) void call(id, column.id, request, settings, controller.signal);
  };
  const edit = (turn: number | undefined) => {
    const found = turns.find(({ id }) => id === turn);
    setEditing(turn);
    setPrompt(found?.prompt ?? "");
    setAttached(found?.attached ?? []);
  };
  const clear = () => {
    abort.current?.abort();
    setTurns([]);
    setEditing(undefined);
    setEdited({});
    setProblems({});
    if (captured !== undefined) goTo("/play", { replace: true });
  };

  const isDouble = columns.length === 2;
  const kinds = [...new Set(calling.map(({ model }) => model.kind))];
  const hasBody = calling.length > 0 && calling.every(({ id }) => edited[id] !== undefined);
  return (
    <>
      <PageHead title="Playground">
        {(turns.length > 0 || captured !== undefined) && (
          <button type="button" onClick={clear}>
            Clear
          </button>
        )}
        <button
          type="button"
          aria-pressed={isDouble}
          onClick={() => setQuery({ model2: isDouble ? undefined : usualOf(models), protocol2: undefined })}
        >
          Compare two models
        </button>
      </PageHead>
      {captured !== undefined && (
        <p class="small note">
          From <a href={`/calls/${captured.receipt}`}>call {captured.receipt}</a>. {captured.note}
        </p>
      )}
      <div class={isDouble ? "play two" : "play"}>
        {columns.map((column) => {
          const one = calling.find(({ id }) => id === column.id);
          const settings = one && settingsOf(one);
          return (
            <PlayColumn
              key={column.id}
              {...column}
              models={models}
              turns={turns}
              settings={settings}
              request={settings && requestOf(settings)}
              edited={edited[column.id]}
              problem={problems[column.id] ?? ""}
              base={base}
              instructions={knobs.system}
              apiKey={apiKey}
              first={edited[column.id] === undefined ? "answer" : "request"}
              onEdit={(body) => setEdited({ ...edited, [column.id]: body })}
              onModel={(model) => setQuery({ [column.id]: model, [column.protocolName]: undefined }, true)}
              onProtocol={(protocol) => setQuery({ [column.protocolName]: protocol }, true)}
            />
          );
        })}
      </div>
      <section class="panel prompt" aria-label="Request">
        {calling.length > 0 && (
          <Composer
            label={promptLabel(kinds)}
            prompt={prompt}
            attached={attached}
            accepts={acceptedBy(columns)}
            isRunning={isRunning}
            canSend={prompt.trim() !== "" || hasBody}
            turns={turns}
            editing={editing}
            onPrompt={setPrompt}
            onAttached={setAttached}
            onSend={send}
            onStop={() => abort.current?.abort()}
            onEdit={edit}
          />
        )}
        <PlaySettings
          kinds={calling.length === 0 ? ["text"] : kinds}
          knobs={knobs}
          apiKey={apiKey}
          onChange={(changes) => setKnobs({ ...knobs, ...changes })}
          onKey={setApiKey}
        />
      </section>
    </>
  );
}

export function Play() {
  const receipt = place.value.query.get("receipt");
  const loaded = useData(`play ${receipt}`, async (abort) => {
    const [{ models }, captured] = await Promise.all([
      allModels(abort),
      receipt === null ? undefined : capturedRequest(receipt, abort),
    ]);
    return { models, captured };
  });
  const base = useData("base", clientsUrl);
  if (session.value?.role !== "admin")
    return (
      <Empty title="Admin access required">
        <p>The playground creates an API key, and its calls cost money.</p>
      </Empty>
    );
  if (loaded.data !== undefined && loaded.data.models.length > 0)
    return <Playground key={receipt} {...loaded.data} base={base.data ?? ""} />;
  return (
    <>
      <PageHead title="Playground" />
      <Loaded of={loaded}>
        {() => (
          <Empty title="No models">
            <p>
              Add a <a href="/providers">provider</a> or enable the simulator.
            </p>
          </Empty>
        )}
      </Loaded>
    </>
  );
}
