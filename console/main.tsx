import { render } from "preact";
import { findSession } from "./api/client.ts";
import { App } from "./app.tsx";
import { watchVisibility } from "./state/events.ts";
import { followLinks } from "./state/router.ts";
import { applyScheme } from "./state/scheme.ts";

applyScheme();
followLinks();
watchVisibility();
void findSession();
const root = document.getElementById("console");
if (root !== null) render(<App />, root);
