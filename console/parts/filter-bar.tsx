import { useEffect, useRef } from "preact/hooks";
import { type CallFilter, readFilter, writeFilter } from "../state/filter.ts";
import { nameOfKey } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";

const HINT = "model:sim/fast  outcome:failed  key:…  cost>0.01  ms>2000";

/** The filter from the address bar. */
export const currentFilter = (): CallFilter => readFilter(place.value.query.get("q") ?? "");

const SIGNS: Readonly<Record<string, string>> = { cost: "≥ $", ms: "≥ " };

/** The search field of all pages that show calls. */
export function FilterBar({ label }: { label: string }) {
  const input = useRef<HTMLInputElement>(null);
  const written = place.value.query.get("q") ?? "";
  const filter = readFilter(written);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const search = (event: SubmitEvent) => {
    event.preventDefault();
    setQuery({ q: writeFilter(readFilter(input.current?.value ?? "")) });
  };
  return (
    <search class="filter">
      <form onSubmit={search}>
        <Icon name="search" size={16} />
        <input
          ref={input}
          key={written}
          type="search"
          aria-label={label}
          placeholder={HINT}
          defaultValue={written}
          spellcheck={false}
        />
        <kbd>/</kbd>
      </form>
      {Object.keys(filter).length > 0 && (
        <ul class="chips" aria-label="Filters">
          {Object.entries(filter).map(([name, value]) => (
            <li key={name}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove filter ${name} ${value}`}
                onClick={() => setQuery({ q: writeFilter({ ...filter, [name]: undefined }) })}
              >
                <span class="muted">{name}</span> {SIGNS[name] ?? ""}
                {name === "key" ? nameOfKey(String(value)) : String(value)}
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

/** The address of the call list with this filter. */
export const callsWith = (filter: CallFilter, range?: string): string =>
  `/calls?${new URLSearchParams({ q: writeFilter(filter), ...(range === undefined ? {} : { range }) })}`;
