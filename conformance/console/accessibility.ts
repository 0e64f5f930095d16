import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const AXE = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** The axe rules that depend on colours. All other rules give the same result in light and dark. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** axe leaves the rule of WCAG 2.2 on the size of targets out unless it is asked for. */
const WITH_TARGETS = { rules: { "target-size": { enabled: true } } };

/** Marks the elements whose text is checked. */
const MARK = "data-looked-at";

/**
 * The contrast rule takes three quarters of axe's time, because it checks every cell of every row. Two texts have the same contrast if
 * they and all their ancestors have the same relevant styles, so only one of each such group is marked. Controls, and elements that may
 * overlap something other than their ancestors, each form their own group.
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

/** `but-targets`: everything but the size of targets. */
export type AxePart = "all" | "colours" | "but-targets";

/** The violations of WCAG 2.2 AA and best practices that axe finds; with `colours`, only those of the colour rules. */
export async function accessibilityOf(page: Page, part: AxePart): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    await page.evaluate(AXE);
    await page.evaluate(`axe.configure({ rules: [{ id: "color-contrast", selector: "[${MARK}]" }] })`);
  }
  await page.evaluate(MARK_ONE_OF_EACH_KIND);
  const options = {
    resultTypes: ["violations"],
    ...(part === "colours" ? { runOnly: COLOUR_RULES } : part === "all" ? WITH_TARGETS : {}),
  };
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
