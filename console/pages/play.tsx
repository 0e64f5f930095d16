import { useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { CatalogueModel, Page } from "../api/types.ts";
import { Empty, PageHead, Problem, Waiting } from "../parts/basics.tsx";
import { clientsUrl } from "../parts/first-call.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Common, PlayColumn } from "../parts/play-column.tsx";
import { useData } from "../parts/use-data.ts";
import type { AttachedImage } from "../play/request.ts";
import { place, setQuery } from "../state/router.ts";

const MAX_IMAGE_BYTES = 8 * 1024 * 1024;

async function readImage(file: File): Promise<AttachedImage> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { name: file.name, type: file.type, base64: btoa(binary) };
}

const isImage = (file: File): boolean => file.type.startsWith("image/") && file.size <= MAX_IMAGE_BYTES;

const number = (text: string): number | undefined =>
  text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);

type Set = (changes: Partial<Common>) => void;

function Prompt({ common, set }: { common: Common; set: Set }) {
  const take = async (files: Iterable<File>) => {
    const attached = await Promise.all([...files].filter(isImage).map(readImage));
    if (attached.length > 0) set({ attached: [...common.attached, ...attached] });
  };
  return (
    <section class="panel prompt" aria-label="Request">
      <label>
        System prompt
        <input
          value={common.system}
          onInput={(event) => set({ system: event.currentTarget.value })}
          placeholder="None"
        />
      </label>
      <label>
        Prompt
        <textarea
          rows={4}
          value={common.prompt}
          onInput={(event) => set({ prompt: event.currentTarget.value })}
          onPaste={(event) => void take(event.clipboardData?.files ?? [])}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void take(event.dataTransfer?.files ?? []);
          }}
        />
      </label>
      {common.attached.length > 0 && (
        <ul class="chips" aria-label="Images">
          {common.attached.map((image) => (
            <li key={image.name + image.base64.length}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove ${image.name}`}
                onClick={() => set({ attached: common.attached.filter((one) => one !== image) })}
              >
                {image.name} <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="knobs">
        <label>
          Max output tokens
          <input
            type="number"
            min="1"
            value={common.maxTokens ?? ""}
            onInput={(event) => set({ maxTokens: number(event.currentTarget.value) })}
          />
        </label>
        <label>
          Temperature
          <input
            type="number"
            min="0"
            max="2"
            step="0.1"
            value={common.temperature ?? ""}
            onInput={(event) => set({ temperature: number(event.currentTarget.value) })}
          />
        </label>
        <label>
          Image
          <input
            type="file"
            accept="image/*"
            multiple
            onChange={(event) => void take(event.currentTarget.files ?? [])}
          />
        </label>
        <label>
          API key (optional)
          <input
            type="password"
            autocomplete="off"
            placeholder="Temporary key, $1 budget"
            value={common.key}
            onInput={(event) => set({ key: event.currentTarget.value.trim() })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={common.stream}
            onChange={(event) => set({ stream: event.currentTarget.checked })}
          />
          Stream
        </label>
      </div>
    </section>
  );
}

const START: Common = {
  system: "",
  prompt: "Name three roads that meet.",
  attached: [],
  maxTokens: undefined,
  temperature: undefined,
  stream: true,
  key: "",
  base: "",
};

/** Query parameters of each column. */
const COLUMNS = [
  { model: "model", protocol: "protocol", name: "First model" },
  { model: "model2", protocol: "protocol2", name: "Second model" },
] as const;

export function Play() {
  const { query } = place.value;
  const { data, error, reload } = useData("models", (abort) =>
    ask<Page<CatalogueModel>>("/api/models", { limit: 500 }, abort),
  );
  const base = useData("base", clientsUrl);
  const [common, setCommon] = useState(START);
  const set: Set = (changes) => setCommon((before) => ({ ...before, ...changes }));
  const models = data?.data.toSorted((one, other) => one.id.localeCompare(other.id)) ?? [];
  const usual =
    (models.find(({ id }) => id === "sim/standard") ?? models.find(({ kind }) => kind === "text"))?.id ?? "";
  const isDouble = query.get("model2") !== null;
  if (session.value?.role !== "admin")
    return (
      <Empty title="Admin access required">
        <p>The playground creates an API key, and its calls cost money.</p>
      </Empty>
    );
  return (
    <>
      <PageHead title="Playground">
        <button
          type="button"
          aria-pressed={isDouble}
          onClick={() => setQuery({ model2: isDouble ? undefined : usual, protocol2: undefined })}
        >
          Compare two models
        </button>
      </PageHead>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? (
        !error && <Waiting />
      ) : models.length === 0 ? (
        <Empty title="No models">
          <p>
            Add a <a href="/providers">provider</a> or enable the simulator.
          </p>
        </Empty>
      ) : (
        <>
          <Prompt common={common} set={set} />
          <div class={isDouble ? "play two" : "play"}>
            {COLUMNS.slice(0, isDouble ? 2 : 1).map((column) => (
              <PlayColumn
                key={column.model}
                name={column.name}
                models={models}
                model={query.get(column.model) || usual}
                protocol={query.get(column.protocol) ?? ""}
                common={{ ...common, base: base.data ?? "" }}
                onModel={(model) => setQuery({ [column.model]: model, [column.protocol]: undefined }, true)}
                onProtocol={(protocol) => setQuery({ [column.protocol]: protocol }, true)}
              />
            ))}
          </div>
        </>
      )}
    </>
  );
}
