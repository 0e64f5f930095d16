import { signal } from "@preact/signals";

export interface Place {
  path: string;
  query: URLSearchParams;
}

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

/** The current address. */
export const place = signal<Place>(
  typeof location === "undefined" ? { path: "/", query: new URLSearchParams() } : here(),
);

/** What the address names after this prefix, as it is written if it is not encoded correctly. */
export function nameInPath(prefix: string): string {
  const written = place.value.path.slice(prefix.length);
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

let moved = false;

/** Whether the reader has navigated since the console was loaded. */
export const hasMoved = (): boolean => moved;

/** Navigates within the console. `replace` adds no history entry. */
export function goTo(address: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else {
    history.pushState(null, "", address);
    moved = true;
    scrollTo(0, 0);
  }
  place.value = here();
}

/** Changes query parameters; `undefined` removes one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, replace = false): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = String(query);
  goTo(text === "" ? place.value.path : `${place.value.path}?${text}`, { replace });
}

/** Makes links within the console navigate without a page load. */
export function followLinks(): void {
  addEventListener("popstate", () => {
    place.value = here();
  });
  document.addEventListener("click", (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element | null)?.closest("a");
    if (!link || link.origin !== location.origin || link.target !== "" || link.hasAttribute("download")) return;
    if (link.pathname.startsWith("/api/") || link.pathname === "/openapi.json") return;
    event.preventDefault();
    goTo(link.pathname + link.search);
  });
}
