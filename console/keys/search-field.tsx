import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icon.tsx";
import { place, setQuery } from "../state/router.ts";

/** Narrows a list that is complete while one types; the address has the text. `/` leads here. */
export function SearchField({ label, placeholder }: { label: string; placeholder: string }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog");
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  return (
    <search class="filter list-search">
      <form onSubmit={(event) => event.preventDefault()}>
        <Icon name="search" size={16} />
        <input
          ref={input}
          type="search"
          aria-label={label}
          placeholder={placeholder}
          value={place.value.query.get("text") ?? ""}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setQuery({ text: event.currentTarget.value }, true)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}
