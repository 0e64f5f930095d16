import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Escape and the cross do not close it: there is something that is shown once. */
  mustAnswer?: boolean;
  children: ComponentChildren;
}

/** The browser's own dialog: it brings focus, Escape, and what readers of the screen need. */
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
