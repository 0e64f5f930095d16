import type { Turn } from "../play/conversation.ts";
import type { Attached } from "../play/request.ts";
import { Icon } from "./icon.tsx";

const MAX_BYTES = 8 * 1024 * 1024;
const PDF = "application/pdf";

interface ComposerProps {
  label: string;
  prompt: string;
  attached: readonly Attached[];
  /** The media types that the models take: `image/*`, `application/pdf`. */
  accepts: readonly string[];
  isRunning: boolean;
  canSend: boolean;
  turns: readonly Turn[];
  /** The turn that *Send* replaces, with those after it. */
  editing: number | undefined;
  onPrompt: (prompt: string) => void;
  onAttached: (attached: readonly Attached[]) => void;
  onSend: () => void;
  onStop: () => void;
  onEdit: (turn: number | undefined) => void;
}

async function read(file: File): Promise<Attached> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { name: file.name, type: file.type, base64: btoa(binary) };
}

/** The next prompt with its attachments, and the buttons that send it. */
export function Composer(props: ComposerProps) {
  const { label, prompt, attached, accepts, isRunning, canSend, turns, editing, onAttached, onEdit } = props;
  const take = async (files: Iterable<File>) => {
    const fitting = [...files].filter(
      ({ type, size }) =>
        size <= MAX_BYTES && accepts.some((one) => (one === PDF ? type === PDF : type.startsWith("image/"))),
    );
    if (fitting.length > 0) onAttached([...attached, ...(await Promise.all(fitting.map(read)))]);
  };
  const last = turns.at(-1);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSend();
      }}
    >
      <label>
        {label}
        <textarea
          rows={3}
          value={prompt}
          onInput={(event) => props.onPrompt(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isRunning || !canSend) return;
            event.preventDefault();
            props.onSend();
          }}
          onPaste={(event) => void take(event.clipboardData?.files ?? [])}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void take(event.dataTransfer?.files ?? []);
          }}
        />
      </label>
      {attached.length > 0 && (
        <ul class="chips" aria-label="Attachments">
          {attached.map((one) => (
            <li key={one.name + one.base64.length}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove ${one.name}`}
                onClick={() => onAttached(attached.filter((other) => other !== one))}
              >
                {one.name} <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="sends">
        {isRunning ? (
          <button type="button" onClick={props.onStop}>
            <Icon name="stop" size={14} /> Stop
          </button>
        ) : (
          <button type="submit" class="main" disabled={!canSend} title="Ctrl Enter">
            Send
          </button>
        )}
        {accepts.length > 0 && (
          <label class="button attach">
            <Icon name="plus" size={14} /> Attach
            <input
              type="file"
              class="unseen"
              accept={accepts.join(",")}
              multiple
              onChange={(event) => {
                void take(event.currentTarget.files ?? []);
                event.currentTarget.value = "";
              }}
            />
          </label>
        )}
        {last !== undefined && editing === undefined && !isRunning && (
          <button type="button" onClick={() => onEdit(last.id)}>
            Edit last prompt
          </button>
        )}
        {editing !== undefined && (
          <span class="muted small">
            Replaces the last turn.{" "}
            <button type="button" class="link" onClick={() => onEdit(undefined)}>
              Keep it
            </button>
          </span>
        )}
      </div>
    </form>
  );
}
