import { useEffect, useRef, useState } from "preact/hooks";
import type { CatalogueModel } from "../api/types.ts";
import { priceWords } from "../state/prices.ts";

interface ModelPickerProps {
  label: string;
  /** Unique on the page. */
  id: string;
  models: readonly CatalogueModel[];
  value: string;
  onChoose: (model: string) => void;
}

/** Models whose names, kind or provider contain every word. Those that begin with the text come first. */
export function findModels(models: readonly CatalogueModel[], text: string): CatalogueModel[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const of = ({ id, display_name, aliases, kind, offers }: CatalogueModel) =>
    [id, display_name, ...aliases, kind, ...offers.map(({ provider }) => provider)].join(" ").toLowerCase();
  const rank = ({ id }: CatalogueModel) => (id === wanted ? 0 : (id.split("/")[1] ?? "").startsWith(wanted) ? 1 : 2);
  return models
    .filter((model) => words.every((word) => of(model).includes(word)))
    .sort((one, other) => rank(one) - rank(other));
}

/** A field that finds one of many models by name, with prices. Works by keyboard alone. */
export function ModelPicker({ label, id, models, value, onChoose }: ModelPickerProps) {
  const [text, setText] = useState<string | undefined>(undefined);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const isOpen = text !== undefined;
  const found = text === undefined || text === "" ? [...models] : findModels(models, text);
  const chosen = found[Math.min(at, found.length - 1)];
  const model = models.find((one) => one.id === value);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at, isOpen]);
  const open = () => {
    setText("");
    setAt(
      Math.max(
        0,
        models.findIndex((one) => one.id === value),
      ),
    );
  };
  const close = () => setText(undefined);
  const choose = (one: CatalogueModel | undefined) => {
    if (one === undefined) return;
    close();
    onChoose(one.id);
  };
  const onKey = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const last = found.length - 1;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (!isOpen) open();
      else setAt(Math.max(0, Math.min(last, at + step)));
    } else if (event.key === "Enter" && isOpen) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return (
    <div class="picker">
      <label>
        <span class="unseen">{label}</span>
        <input
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          aria-expanded={isOpen}
          aria-controls={`${id}-models`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && chosen !== undefined ? `${id}-${found.indexOf(chosen)}` : undefined}
          value={text ?? value}
          placeholder={value}
          onFocus={(event) => event.currentTarget.select()}
          onClick={() => !isOpen && open()}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKey}
          onBlur={close}
        />
      </label>
      {!isOpen && model !== undefined && <span class="picker-price muted">{priceWords(model)}</span>}
      <div class="choices" hidden={!isOpen}>
        <div id={`${id}-models`} role="listbox" tabIndex={-1} aria-label={`${label}: choices`} ref={list}>
          {isOpen &&
            found.map((one, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
              <div
                key={one.id}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={one === chosen}
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => choose(one)}
              >
                <span class="cut">{one.id}</span>
                <small>
                  {one.kind === "text" ? "" : `${one.kind}, `}
                  {priceWords(one)}
                </small>
              </div>
            ))}
        </div>
        {isOpen && found.length === 0 && <p class="muted small">No model matches.</p>}
      </div>
    </div>
  );
}
