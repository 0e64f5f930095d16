import { bytes } from "../format/numbers.ts";
import { ObjectPage } from "../parts/object-page.tsx";

export const Files = () => (
  <ObjectPage
    shown={{
      kind: "file",
      path: "/files",
      noun: "file",
      title: "Files",
      columns: [
        { name: "Size", isNumber: true, cell: (item) => bytes(item.bytes) },
        { name: "Type", room: 1100, cell: (item) => item.type ?? "–" },
        { name: "Purpose", cell: (item) => item.purpose ?? "–" },
        { name: "Copies at", room: 900, cell: (item) => item.providers.join(", ") || "–" },
      ],
      effect: "Requests that name it will fail. This cannot be undone.",
      about: "Files that clients upload, and the results of batches, are listed here. Operators cannot read them.",
    }}
  />
);
