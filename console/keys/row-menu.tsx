import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface MenuItem {
  name: string;
  href?: string;
  onClick?: () => void;
  danger?: boolean;
}

/** The actions of a row behind one button. Its list is drawn when it opens. */
export function RowMenu({ id, of, items }: { id: string; of: string; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    if (isOpen) list.current?.querySelector<HTMLElement>("a, button")?.focus();
  }, [isOpen]);
  const close = () => list.current?.hidePopover();
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("a, button") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + step + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button type="button" class="quiet square" popovertarget={id} aria-label={`Actions for ${of}`} title="Actions">
        ⋯
      </button>
      <ul
        ref={list}
        id={id}
        popover="auto"
        class="row-menu"
        aria-label={`Actions for ${of}`}
        onKeyDown={move}
        onToggle={(event) => setOpen(event.newState === "open")}
      >
        {isOpen &&
          items.map(({ name, href, onClick, danger }) => (
            <li key={name}>
              {href === undefined ? (
                <button
                  type="button"
                  class={danger ? "quiet danger" : "quiet"}
                  onClick={() => {
                    close();
                    onClick?.();
                  }}
                >
                  {name}
                </button>
              ) : (
                <a href={href} onClick={close}>
                  {name}
                </a>
              )}
            </li>
          ))}
      </ul>
    </>
  );
}
