import { useEffect, useState } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

const SHORTCUTS = [
  ["/", "Search or filter"],
  ["j, k", "The next call, the one before"],
  ["Enter", "Open the chosen call"],
  ["Esc", "Close, or choose nothing"],
  ["?", "This list"],
] as const;

/** `?` shows what the keyboard can do. */
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
    <Dialog title="Keyboard" onClose={() => setOpen(false)}>
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
