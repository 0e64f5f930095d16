import { useEffect, useRef, useState } from "preact/hooks";
import type { ReceiptDetail } from "../api/types.ts";
import { money } from "../format/money.ts";
import { duration } from "../format/numbers.ts";
import { receiptOf } from "../play/receipt-of.ts";
import { openVoice, type Voice } from "../voice/open-voice.ts";
import type { VoiceView } from "../voice/voice-session.ts";
import { State } from "./basics.tsx";

interface VoiceProps {
  model: string;
  instructions: string;
  apiKey: string;
}

const KINDS = {
  connecting: "warn",
  ready: "good",
  listening: "warn",
  answering: "warn",
  closed: "idle",
  failed: "bad",
} as const;

/** A spoken conversation with a model. */
export function VoicePanel({ model, instructions, apiKey }: VoiceProps) {
  const [view, setView] = useState<VoiceView | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const [level, setLevel] = useState(0);
  const [receipt, setReceipt] = useState<ReceiptDetail | undefined>(undefined);
  const [isOpening, setOpening] = useState(false);
  const voice = useRef<Voice | undefined>(undefined);
  // A conversation belongs to its model, and ends with the page.
  useEffect(
    () => () => {
      voice.current?.close();
      voice.current = undefined;
      setView(undefined);
    },
    [model],
  );
  const id = view?.receipt;
  useEffect(() => {
    setReceipt(undefined);
    if (id !== undefined) void receiptOf(id).then(setReceipt);
  }, [id]);

  const open = async () => {
    setProblem("");
    setView(undefined);
    setOpening(true);
    try {
      voice.current = await openVoice({ model, instructions, key: apiKey, onChange: setView, onLevel: setLevel });
    } catch (thrown) {
      setProblem(thrown instanceof Error ? thrown.message : String(thrown));
    }
    setOpening(false);
  };
  const session = voice.current?.session;
  const isOpen = view !== undefined && view.state !== "closed" && view.state !== "failed";
  const canTalk = view?.state === "ready" || view?.state === "answering" || view?.state === "listening";
  return (
    <div class="play-body voice">
      <p class="figures-line" role="status">
        {view && <State kind={KINDS[view.state]}>{view.state}</State>}
        {view?.firstMs !== undefined && <span>first sound {duration(view.firstMs)}</span>}
        {receipt !== undefined && <span>{money(receipt.cost_nano_usd)}</span>}
        {id !== undefined && <a href={`/calls/${id}`}>View call</a>}
      </p>
      <div class="voice-controls">
        {isOpen ? (
          <>
            <button
              type="button"
              class="main"
              disabled={!canTalk}
              aria-pressed={view.state === "listening"}
              onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId);
                session?.press();
              }}
              onPointerUp={() => session?.release()}
              onPointerCancel={() => session?.release()}
              onKeyDown={(event) => {
                if (event.key !== " " && event.key !== "Enter") return;
                event.preventDefault();
                if (!event.repeat) session?.press();
              }}
              onKeyUp={(event) => {
                if (event.key === " " || event.key === "Enter") session?.release();
              }}
              onBlur={() => session?.release()}
            >
              Hold to talk
            </button>
            <meter min={0} max={1} value={level} aria-label="Microphone level" />
            <button type="button" onClick={() => voice.current?.close()}>
              End conversation
            </button>
          </>
        ) : (
          <button type="button" class="main" disabled={isOpening} onClick={() => void open()}>
            Start conversation
          </button>
        )}
      </div>
      {(problem || view?.error) && (
        <p class="problem" role="alert">
          {problem || view?.error}
        </p>
      )}
      {view !== undefined && view.said.length > 0 ? (
        <ol class="transcript" aria-label="Transcript">
          {view.said.map(({ who, id: item, text }) => (
            <li key={`${who} ${item}`}>
              <strong>{who === "you" ? "You" : model}</strong>
              <span>{text || "(no words)"}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p class="muted">The transcript appears here. Your microphone is on only during a conversation.</p>
      )}
    </div>
  );
}
