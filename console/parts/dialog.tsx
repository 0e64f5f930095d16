import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  /** Escape and the close button do nothing, because the dialog shows something only once. */
  mustAnswer?: boolean;
  /** Hides the page below. */
  kind?: "covering";
  children: ComponentChildren;
}

/** Uses the browser's dialog element, which handles focus, Escape and screen readers. */
export function Dialog({ title, onClose, mustAnswer = false, kind, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-label={title}
      // Browsers close a dialog when Escape is pressed again, whatever the first time did.
      onClose={() => (mustAnswer ? dialog.current?.showModal() : onClose())}
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
