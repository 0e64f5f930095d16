import { useEffect, useState } from "preact/hooks";

/** Whether the window is at least this wide. */
export function useRoom(pixels: number): boolean {
  const query = `(min-width: ${pixels}px)`;
  const [hasRoom, setHasRoom] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = () => setHasRoom(list.matches);
    look();
    list.addEventListener("change", look);
    return () => list.removeEventListener("change", look);
  }, [query]);
  return hasRoom;
}
