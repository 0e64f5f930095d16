import type { Page } from "../api/types.ts";
import { full } from "../format/time.ts";
import { place, setQuery } from "../state/router.ts";

/** Moves between the pages of a list, newest first. `after` in the address is the start of the page. */
export const Pager = ({ page, of }: { page: Page<unknown>; of: string }) => (
  <nav class="pager" aria-label={`Pagination for ${of}`}>
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
