import { useEffect, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

const SHORTCUTS = [
  ["/", "Search or filter"],
  ["j, k", "Next or previous call"],
  ["Enter", "Open the selected call"],
  ["Esc", "Close, or clear the selection"],
  ["?", "Show this list"],
] as const;

/** `?` shows the keyboard shortcuts. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const show = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, dialog");
      if (event.key === "?" && !isTyping) setOpen(true);
    };
    addEventListener("keydown", show);
    return () => removeEventListener("keydown", show);
  }, []);
  if (!isOpen) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
      <dl class="shortcuts">
        {SHORTCUTS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
