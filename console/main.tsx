import { render } from "preact";
import { findSession } from "./api/client.ts";
import { App } from "./app.tsx";
import { watchVisibility } from "./state/events.ts";
import { followLinks, place } from "./state/router.ts";
import { applyScheme } from "./state/scheme.ts";
import { readZone, shownZone } from "./state/zone.ts";

applyScheme();
followLinks();
place.subscribe(({ query }) => {
  shownZone.value = readZone(query);
});
watchVisibility();
void findSession();
const root = document.getElementById("console");
if (root !== null) render(<App />, root);
