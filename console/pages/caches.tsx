import { money } from "../format/money.ts";
import { known } from "../format/numbers.ts";
import { ObjectPage } from "../parts/object-page.tsx";

export const Caches = () => (
  <ObjectPage
    shown={{
      kind: "cache",
      path: "/caches",
      noun: "cache",
      title: "Caches",
      columns: [
        { name: "Model", cell: (item) => item.model ?? "–" },
        { name: "Provider", cell: (item) => item.providers.join(", ") || "–" },
        { name: "Tokens", isNumber: true, room: 900, cell: (item) => known(item.tokens) },
        { name: "Storage so far", isNumber: true, cell: (item) => known(item.cost_usd, (cost) => money(cost * 1e9)) },
      ],
      effect: "Its provider deletes it, its storage is billed, and requests that name it will fail.",
      about: "Prompts that clients store at Google's providers are listed here until they expire.",
    }}
  />
);
