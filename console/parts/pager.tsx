import type { Page } from "../api/types.ts";
import { full } from "../format/time.ts";
import { place, setQuery } from "../state/router.ts";

/** From page to page of a list, the newest first: `after` in the address says where the page begins. */
export const Pager = ({ page, of }: { page: Page<unknown>; of: string }) => (
  <nav class="pager" aria-label={`Pages of ${of}`}>
    {place.value.query.get("after") !== null && (
      <button type="button" onClick={() => setQuery({ after: undefined })}>
        Newest
      </button>
    )}
    {page.next !== null && (
      <button type="button" onClick={() => setQuery({ after: page.next ?? undefined, live: undefined })}>
        Older
      </button>
    )}
    {page.searched_back_to && <span class="muted small">Searched back to {full(page.searched_back_to)}</span>}
  </nav>
);
