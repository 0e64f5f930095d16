// Writes a page that lists the decisions; in the repository, the folder itself is the list.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const folder = new URL("pages/decisions/", import.meta.url);
const lines = readdirSync(folder)
  .filter((name) => /^\d{4}-.*\.md$/.test(name))
  .sort()
  .map((name) => {
    const [title = name] = readFileSync(new URL(name, folder), "utf8").split("\n");
    return `- [${title.replace(/^#\s*/, "")}](${name})`;
  });
writeFileSync(new URL("README.md", folder), `# Decisions\n\nDesign decisions and their reasons.\n\n${lines.join("\n")}\n`);
