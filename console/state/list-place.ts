import { goTo } from "./router.ts";

/** Where the reader was in a list before one of its calls was opened. */
interface ListPlace {
  address: string;
  /** How far the page was scrolled. */
  top: number;
  /** The call that was opened. */
  opened: string;
}

let left: ListPlace | undefined;
/** Set while the reader goes back. */
let isReturning = false;

/** The list is left for one of its calls. */
export function leaveList(place: ListPlace): void {
  left = place;
}

export const listAddress = (): string => left?.address ?? "/calls";

/** Goes back to the list from a call. */
export function backToList(path: string): void {
  isReturning = true;
  if (left !== undefined && path === `/calls/${left.opened}`) history.back();
  else goTo(listAddress());
}

if (typeof addEventListener !== "undefined")
  addEventListener("popstate", () => {
    isReturning = true;
  });

/** Where the list was, if the reader has come back to it. Returned only once. */
export function returnedTo(address: string): ListPlace | undefined {
  const place = isReturning && left?.address === address ? left : undefined;
  isReturning = false;
  return place;
}
