import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Escape and the close button do nothing, because the dialog shows something only once. */
  mustAnswer?: boolean;
  children: ComponentChildren;
}

/** Uses the browser's dialog element, which handles focus, Escape and screen readers. */
export function Dialog({ title, onClose, mustAnswer = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onCancel={(event) => {
        if (mustAnswer) event.preventDefault();
      }}
    >
      <header>
        <h2>{title}</h2>
        {!mustAnswer && (
          <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
            <Icon name="close" size={16} />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
