import { signal } from "@preact/signals";

/** A view of one page: its filter, range, order and columns are in the query. */
export interface SavedView {
  name: string;
  path: string;
  query: string;
}

const KEY = "trivium.views";
const MOST = 50;

const isView = (value: unknown): value is SavedView =>
  typeof value === "object" &&
  value !== null &&
  ["name", "path", "query"].every((name) => typeof (value as Record<string, unknown>)[name] === "string");

/** What is stored by this browser, without what another version or somebody else has left there. */
export function readViews(text: string | null): SavedView[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter(isView).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** The views saved in this browser. A link shares one. */
export const savedViews = signal<readonly SavedView[]>(
  readViews(typeof localStorage === "undefined" ? null : localStorage.getItem(KEY)),
);

function keep(views: readonly SavedView[]): void {
  savedViews.value = views;
  localStorage.setItem(KEY, JSON.stringify(views));
}

const isOther =
  ({ name, path }: Pick<SavedView, "name" | "path">) =>
  (view: SavedView): boolean =>
    view.name !== name || view.path !== path;

/** A view of the same name is replaced. */
export const saveView = (view: SavedView): void => keep([...savedViews.value.filter(isOther(view)), view].slice(-MOST));

export const removeView = (view: SavedView): void => keep(savedViews.value.filter(isOther(view)));
