import { goTo, place } from "../state/router.ts";
import { removeView, savedViews, saveView } from "../state/saved-views.ts";
import { Icon } from "./icon.tsx";

/** Saves the view of the page under a name, and opens saved ones. They stay in this browser. */
export function SavedViews() {
  const { path, query } = place.value;
  const views = savedViews.value.filter((view) => view.path === path);
  const kept = new URLSearchParams(query);
  for (const name of ["after", "live"]) kept.delete(name);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name") ?? "").trim();
    if (name === "") return;
    saveView({ name, path, query: String(kept) });
    form.reset();
  };
  return (
    <>
      <button type="button" popovertarget="views">
        <Icon name="star" size={15} />
        Views{views.length > 0 ? ` (${views.length})` : ""}
      </button>
      <section id="views" popover="auto" class="pop" aria-label="Saved views">
        {views.length > 0 && (
          <ul>
            {views.map((view) => (
              <li key={view.name}>
                <button type="button" class="quiet" onClick={() => goTo(`${view.path}?${view.query}`)}>
                  {view.name}
                </button>
                <button
                  type="button"
                  class="quiet square"
                  aria-label={`Remove view ${view.name}`}
                  onClick={() => removeView(view)}
                >
                  <Icon name="close" size={13} />
                </button>
              </li>
            ))}
          </ul>
        )}
        <form onSubmit={save}>
          <label>
            Save this view as
            <input name="name" maxLength={60} required autocomplete="off" />
          </label>
          <button type="submit">Save</button>
        </form>
        <p class="hint">Views are saved in this browser. To share one, copy its link.</p>
      </section>
    </>
  );
}
