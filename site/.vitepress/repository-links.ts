import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { MarkdownRenderer } from "vitepress";

const pages = new URL("../pages/", import.meta.url).pathname;
const OUTSIDE = /^(?:[a-z]+:|\/\/|#)/i;

type Token = ReturnType<MarkdownRenderer["parse"]>[number];

/** The address of a link within the site; undefined if its target is not in the site. */
function placeInSite(href: string, page: string): string | undefined {
  const [path = "", anchor] = href.split("#");
  const target = normalize(join(dirname(page), path));
  if (target.startsWith("..")) return undefined;
  if (existsSync(join(pages, target, "README.md"))) return `/${target}/${anchor === undefined ? "" : `#${anchor}`}`;
  if (target.endsWith("/README.md")) return `/${dirname(target)}/${anchor === undefined ? "" : `#${anchor}`}`;
  return existsSync(join(pages, target)) && /\.\w+$/.test(target) ? href : undefined;
}

/** Turns links to repository files that are not pages into plain text, because the site is hosted without them. */
export function unlinkRepository(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("repository-links", ({ tokens, env }) => {
    const page = String((env as { relativePath?: string }).relativePath ?? "");
    for (const token of tokens) if (token.children) token.children = withoutDeadLinks(token.children, page);
  });
}

function withoutDeadLinks(children: readonly Token[], page: string): Token[] {
  const kept: Token[] = [];
  const open: boolean[] = [];
  for (const token of children) {
    if (token.type === "link_open") {
      const href = token.attrGet("href") ?? "";
      const place = OUTSIDE.test(href) ? href : placeInSite(href, page);
      open.push(place !== undefined);
      if (place === undefined) continue;
      token.attrSet("href", place);
    } else if (token.type === "link_close" && open.pop() === false) continue;
    kept.push(token);
  }
  return kept;
}
