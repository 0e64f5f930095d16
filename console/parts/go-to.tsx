import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, session } from "../api/client.ts";
import type { CatalogueModel, Key, Page, ProviderHealth } from "../api/types.ts";
import { modelPath } from "../state/catalogue-lists.ts";
import { goTo } from "../state/router.ts";
import { groupsFor } from "../state/sections.ts";
import { Dialog } from "./dialog.tsx";

const isOpen = signal(false);

export const openGoTo = (): void => {
  isOpen.value = true;
};

interface Target {
  kind: string;
  name: string;
  href: string;
  /** In lower case: what is searched. */
  words: string;
}

const MAX_SHOWN = 12;
/** IDs of receipts and requests are in base64url, those of traces 32 hexadecimal digits, which some tools write as a UUID. */
const CALL_ID = /^(?:rcp_|req_)[\w-]+$|^[0-9a-f]{32}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OWN_ID = /^r(?:cp|eq)_/;

const target = (kind: string, name: string, href: string, more = ""): Target => ({
  kind,
  name,
  href,
  words: `${name} ${more}`.toLowerCase(),
});

const pages = (): Target[] =>
  groupsFor(session.value?.role ?? "viewer").flatMap(({ sections }) =>
    sections.flatMap((section) => section.pages.map(({ name, path, also }) => target("page", name, path, also))),
  );

/** Keys, and for operators of the whole gateway models and providers. What cannot be read is left out. */
async function named(abort: AbortSignal): Promise<Target[]> {
  const all = session.value?.role !== "project";
  const none = { data: [] };
  const [keys, models, providers] = await Promise.all([
    ask<Page<Key>>("/api/keys", { limit: 500 }, abort).catch(() => none),
    all ? ask<{ data: CatalogueModel[] }>("/api/models", { limit: 500 }, abort).catch(() => none) : none,
    all ? ask<{ data: ProviderHealth[] }>("/api/providers", {}, abort).catch(() => none) : none,
  ]);
  return [
    ...keys.data.map(({ id, name }) => target("key", name, `/keys/${encodeURIComponent(id)}`, id)),
    ...providers.data.map(({ provider }) => target("provider", provider, `/providers/${encodeURIComponent(provider)}`)),
    ...models.data.map(({ id }) => target("model", id, modelPath(id))),
  ];
}

/** What a text may mean: an ID of a call, or names that contain all of its words. Those that begin with it come first. */
export function matches(targets: readonly Target[], text: string): Target[] {
  const wanted = text.trim().toLowerCase();
  if (CALL_ID.test(wanted)) {
    const id = OWN_ID.test(wanted) ? text.trim() : wanted.replaceAll("-", "");
    const href = id.startsWith("rcp_") ? `/calls/${id}` : `/calls?${new URLSearchParams({ q: id, range: "30d" })}`;
    return [target("call", id, href)];
  }
  const words = wanted.split(/\s+/);
  const rank = ({ words: of }: Target): number => (of.startsWith(wanted) ? 0 : 1);
  return targets
    .filter((one) => words.every((word) => one.words.includes(word)))
    .sort((one, other) => rank(one) - rank(other))
    .slice(0, MAX_SHOWN);
}

function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [more, setMore] = useState<readonly Target[]>([]);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    const abort = new AbortController();
    void named(abort.signal).then((found) => !abort.signal.aborted && setMore(found));
    return () => abort.abort();
  }, []);
  const found = matches([...pages(), ...more], text);
  const chosen = Math.min(at, found.length - 1);
  const open = (href: string | undefined) => {
    if (href === undefined) return;
    onClose();
    goTo(href);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && found.length > 0) {
      event.preventDefault();
      setAt((chosen + step + found.length) % found.length);
    }
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form
        class="go-to"
        onSubmit={(event) => {
          event.preventDefault();
          open(found[chosen]?.href);
        }}
      >
        <input
          ref={input}
          type="search"
          aria-label="Page, key, model, provider or ID of a call"
          placeholder="Page, key, model, provider or ID of a call"
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
        <p class="unseen" role="status">
          {found[chosen] && `${found[chosen].kind} ${found[chosen].name}, ${chosen + 1} of ${found.length}`}
        </p>
        <ul aria-label="Results">
          {found.map(({ kind, name, href }, index) => (
            <li key={`${kind} ${href}`}>
              <a href={href} class={index === chosen ? "chosen" : undefined} onClick={onClose}>
                <span class="name">{name}</span>
                <span class="muted small">{kind}</span>
              </a>
            </li>
          ))}
        </ul>
        {found.length === 0 && (
          <p class="muted" role="status">
            Nothing has this name. To search calls, use the filter of the page Calls.
          </p>
        )}
      </form>
    </Dialog>
  );
}

/** `Ctrl K` or `⌘ K` opens it. */
export function GoTo() {
  useEffect(() => {
    const show = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      isOpen.value = true;
    };
    addEventListener("keydown", show);
    return () => removeEventListener("keydown", show);
  }, []);
  if (!isOpen.value) return null;
  return (
    <Palette
      onClose={() => {
        isOpen.value = false;
      }}
    />
  );
}
