import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const AXE = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** The rules of axe that depend on colours. What all others say of a page in light colours is what they say of it in dark ones. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Text of these is looked at. */
const MARK = "data-looked-at";

/**
 * The rule about contrast takes three quarters of the time of axe, and looks at every cell of every row. Two texts in the flow of a page have
 * the same contrast if all that decides it is the same, for them and for everything that they stand in: one of each such kind is marked.
 * What is a control, or may lie on something that it does not stand in, is of a kind of its own.
 */
const MARK_ONE_OF_EACH_KIND = `(() => {
  const kinds = new Map();
  const seen = new Set();
  const words = /[\\p{L}\\p{N}].*[\\p{L}\\p{N}]/su;
  const textOf = (element) => {
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data).join("").trim();
    return words.test(text) ? "words" : text;
  };
  const number = (kind) => kinds.get(kind) ?? (kinds.set(kind, kinds.size), kinds.size - 1);
  const visit = (element, above) => {
    const style = getComputedStyle(element);
    if (style.display === "none") return;
    const apart = element.matches("button, input, select, textarea, [disabled], [aria-disabled]") || /absolute|fixed|sticky/.test(style.position);
    const kind = number(JSON.stringify([above, element.tagName, element.getAttribute("class"), style.color, style.backgroundColor,
      style.backgroundImage, style.opacity, style.filter, style.mixBlendMode, style.textShadow, style.visibility, style.clipPath,
      style.fontSize, style.fontWeight, apart ? kinds.size : ""]));
    const shown = kind + " " + textOf(element);
    element.toggleAttribute("${MARK}", !seen.has(shown));
    seen.add(shown);
    for (const child of element.children) visit(child, kind);
  };
  visit(document.documentElement, 0);
})()`;

interface AxeResult {
  violations: { id: string; help: string; nodes: { target: string[]; html: string; failureSummary: string }[] }[];
}

/** What axe finds against WCAG 2.2 AA and its best practices, or of that what colours decide. */
export async function accessibilityOf(page: Page, part: "all" | "colours"): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    await page.evaluate(AXE);
    await page.evaluate(`axe.configure({ rules: [{ id: "color-contrast", selector: "[${MARK}]" }] })`);
  }
  await page.evaluate(MARK_ONE_OF_EACH_KIND);
  const options = { resultTypes: ["violations"], ...(part === "all" ? {} : { runOnly: COLOUR_RULES }) };
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => ({ violations }))`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ target, html, failureSummary }) =>
        `${id}: ${help} (${target.join(" ")}) ${html.slice(0, 120)} ${failureSummary}`,
    ),
  );
}
