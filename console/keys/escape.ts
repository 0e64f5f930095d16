import { useEffect } from "preact/hooks";
import { goTo } from "../state/router.ts";

/** Escape leads back to the list, unless something is open or being edited. */
export function useEscapeTo(address: string): void {
  useEffect(() => {
    const back = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open], :popover-open") !== null) return;
      if (event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null) return;
      goTo(address);
    };
    addEventListener("keydown", back);
    return () => removeEventListener("keydown", back);
  }, [address]);
}
