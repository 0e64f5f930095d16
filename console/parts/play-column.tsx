import { useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import type { CatalogueModel, ReceiptDetail } from "../api/types.ts";
import { money } from "../format/money.ts";
import { decimal, duration, speed } from "../format/numbers.ts";
import { samplesOf } from "../play/code.ts";
import { type Asked, type PlayRequest, type Protocol, protocolsOf, requestOf } from "../play/request.ts";
import { type Progress, play } from "../play/send.ts";
import { Choice, Code, State } from "./basics.tsx";

export interface Common extends Omit<Asked, "model" | "protocol"> {
  key: string;
  base: string;
}

interface ColumnProps {
  models: readonly CatalogueModel[];
  model: string;
  protocol: string;
  common: Common;
  name: string;
  onModel: (model: string) => void;
  onProtocol: (protocol: Protocol) => void;
}

type Tab = "answer" | "events" | "receipt" | "request" | "code";
const TABS: readonly { value: Tab; name: string }[] = [
  { value: "answer", name: "Answer" },
  { value: "request", name: "Request" },
  { value: "events", name: "Events" },
  { value: "receipt", name: "Receipt" },
  { value: "code", name: "Code" },
];

const KINDS = { running: "warn", done: "good", failed: "bad", stopped: "idle" } as const;

function Figures({ progress, receipt }: { progress: Progress; receipt: ReceiptDetail | undefined }) {
  const out = receipt === undefined ? null : (receipt.usage.output ?? 0) + (receipt.usage.reasoning ?? 0);
  const fast = receipt === undefined ? null : speed(out, receipt.first_content_ms, receipt.total_ms);
  return (
    <p class="figures-line" role="status">
      <State kind={KINDS[progress.state]}>
        {progress.state}
        {progress.percent !== undefined && ` ${Math.round(progress.percent)}%`}
      </State>
      {progress.firstMs !== undefined && <span>first content {duration(progress.firstMs)}</span>}
      {progress.totalMs !== undefined && <span>{duration(progress.totalMs)}</span>}
      {fast !== null && <span>{decimal(fast)} tok/s</span>}
      {receipt !== undefined && <span>{money(receipt.cost_nano_usd)}</span>}
      {progress.receipt !== undefined && <a href={`/calls/${progress.receipt}`}>See the call</a>}
    </p>
  );
}

const Answer = ({ progress }: { progress: Progress }) => (
  <>
    {progress.error !== "" && (
      <p class="problem" role="alert">
        {progress.error}
      </p>
    )}
    {progress.thinking !== "" && (
      <details class="thinking">
        <summary>Thinking</summary>
        <p>{progress.thinking}</p>
      </details>
    )}
    {progress.text !== "" && <p class="said">{progress.text}</p>}
    {progress.images.map((image, at) => (
      <img key={image.slice(-40)} src={image} alt={`Made by the model, ${at + 1}`} />
    ))}
    {progress.videos.map((video) => (
      // biome-ignore lint/a11y/useMediaCaption: a model that makes videos makes no captions
      <video key={video} src={video} controls preload="metadata" />
    ))}
    {/* biome-ignore lint/a11y/useMediaCaption: what is said stands above */}
    {progress.sound !== undefined && <audio src={progress.sound} controls />}
  </>
);

/** One model, called in one protocol. */
export function PlayColumn({ models, model, protocol: wanted, common, name, onModel, onProtocol }: ColumnProps) {
  const kind = models.find(({ id }) => id === model)?.kind ?? "text";
  const offered = protocolsOf(kind);
  const protocol = offered.find((one) => one === wanted) ?? offered[0];
  const [tab, setTab] = useState<Tab>("answer");
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const [receipt, setReceipt] = useState<ReceiptDetail | undefined>(undefined);
  const [edited, setEdited] = useState<string | undefined>(undefined);
  const [sample, setSample] = useState("curl");
  const abort = useRef<AbortController | undefined>(undefined);
  const asked: Asked | undefined = protocol && { ...common, model, protocol };
  const made = asked && requestOf(asked);
  const body = edited ?? JSON.stringify(made?.body, undefined, 2);
  const isRunning = progress?.state === "running";

  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (made === undefined || protocol === undefined) return;
    let request: PlayRequest = made;
    try {
      request = { ...made, body: JSON.parse(body) as Record<string, unknown> };
    } catch {
      setTab("request");
      return;
    }
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    setReceipt(undefined);
    if (tab !== "events") setTab("answer");
    let last: Progress | undefined;
    await play({
      protocol,
      model,
      request,
      key: common.key,
      signal: controller.signal,
      tell: (now) => {
        last = now;
        if (abort.current === controller) setProgress(now);
      },
    });
    if (last?.receipt !== undefined)
      setReceipt((await ask<{ data: ReceiptDetail }>(`/api/receipts/${last.receipt}`).catch(() => undefined))?.data);
  };

  const samples = asked && made ? samplesOf(common.base, asked, made) : [];
  return (
    <form class="panel play-column" onSubmit={send} aria-label={name}>
      <header>
        <label class="grow">
          <span class="unseen">Model</span>
          <select value={model} onChange={(event) => onModel(event.currentTarget.value)}>
            {models.map(({ id, kind: of }) => (
              <option key={id} value={id} disabled={protocolsOf(of).length === 0}>
                {id}
                {of === "text" ? "" : ` (${of})`}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="unseen">Protocol</span>
          <select value={protocol ?? ""} onChange={(event) => onProtocol(event.currentTarget.value as Protocol)}>
            {offered.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        {isRunning ? (
          <button type="button" onClick={() => abort.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={protocol === undefined}>
            Send
          </button>
        )}
      </header>
      <div class="padded-x">
        <Choice label="What is shown" options={TABS} value={tab} onChange={setTab} />
        {progress && <Figures progress={progress} receipt={receipt} />}
      </div>
      <div class="play-body">
        {tab === "answer" && (progress ? <Answer progress={progress} /> : <p class="muted">The answer comes here.</p>)}
        {tab === "request" && (
          <>
            <p class="small">
              <code>POST {made?.path}</code>
            </p>
            <textarea
              class="mono"
              rows={14}
              spellcheck={false}
              aria-label="The request's body"
              value={body}
              onInput={(event) => setEdited(event.currentTarget.value)}
            />
            {edited !== undefined && (
              <button type="button" onClick={() => setEdited(undefined)}>
                As set above again
              </button>
            )}
          </>
        )}
        {tab === "events" &&
          (progress && progress.raw.length > 0 ? (
            <Code text={progress.raw.join("\n")} />
          ) : (
            <p class="muted">Nothing came yet.</p>
          ))}
        {tab === "receipt" &&
          (receipt ? (
            <Code text={JSON.stringify(receipt, undefined, 2)} />
          ) : (
            <p class="muted">The receipt is written when the call is over.</p>
          ))}
        {tab === "code" && (
          <>
            <label>
              <span class="muted">For</span>{" "}
              <select value={sample} onChange={(event) => setSample(event.currentTarget.value)}>
                {samples.map((one) => (
                  <option key={one.name} value={one.name}>
                    {one.name}
                  </option>
                ))}
              </select>
            </label>
            <Code text={(samples.find((one) => one.name === sample) ?? samples[0])?.code ?? ""} />
          </>
        )}
      </div>
    </form>
  );
}
