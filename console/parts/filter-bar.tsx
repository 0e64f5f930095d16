import { useEffect, useRef } from "preact/hooks";
import { type CallFilter, readFilter, replaceWord, unknownWords, writeFilter } from "../state/filter.ts";
import { namedValue } from "../state/names.ts";
import { place, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";

const HINT = 'model:sim/fast  outcome:failed  key:…  body:"ORDER-123"  cost>0.01  ms>2000';

/** The filter from the address bar. */
export const currentFilter = (): CallFilter => readFilter(place.value.query.get("q") ?? "");

/** Words that look like filters but are not. They are ignored until the reader decides. */
function UnknownWords({ filter }: { filter: CallFilter }) {
  const words = unknownWords(filter);
  if (words.length === 0) return null;
  return (
    <div role="status" aria-label="Unknown filters">
      <ul class="unknown-words">
        {words.map(({ word, nearest }) => (
          <li key={word}>
            <u>{word}</u> is not a filter and is ignored.{" "}
            {nearest !== undefined && (
              <button type="button" onClick={() => setQuery({ q: replaceWord(filter, word, nearest) })}>
                Did you mean {nearest}?
              </button>
            )}{" "}
            <button
              type="button"
              class="quiet"
              onClick={() => setQuery({ q: replaceWord(filter, word, `"${word.replaceAll(/["\\]/g, "")}"`) })}
            >
              Search for it as text
            </button>{" "}
            <button type="button" class="quiet" onClick={() => setQuery({ q: replaceWord(filter, word, "") })}>
              Remove
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const SIGNS: Readonly<Record<string, string>> = { cost: "≥ $", ms: "≥ " };

/** The search field of all pages that show calls. */
export function FilterBar({ label }: { label: string }) {
  const input = useRef<HTMLInputElement>(null);
  const written = place.value.query.get("q") ?? "";
  const filter = readFilter(written);
  const narrowing = Object.entries(filter).filter(([name]) => name !== "unknown");
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
      <UnknownWords filter={filter} />
      {narrowing.length > 0 && (
        <ul class="chips" aria-label="Filters">
          {narrowing.map(([name, value]) => (
            <li key={name}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove filter ${name} ${value}`}
                onClick={() => setQuery({ q: writeFilter({ ...filter, [name]: undefined }) })}
              >
                <span class="muted">{name}</span> {SIGNS[name] ?? ""}
                {namedValue(name, String(value))}
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
