import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** Where a Chromium is, if there is one among the programs of this shell: it is a script there that calls others. */
export function findBrowser(): string | undefined {
  const named = process.env["TRIVIUM_CHROMIUM"];
  if (named !== undefined && existsSync(named)) return named;
  return PROGRAMS.map((program) => Bun.which(program)).find((path) => path !== null) ?? undefined;
}

export function launch(executablePath: string): Promise<Browser> {
  // Without a sandbox only where the tests run as root, as in a container: Chromium refuses one there.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath, args: isRoot ? ["--no-sandbox"] : [] });
}

const AXE = readFileSync(join(import.meta.dir, "../../node_modules/axe-core/axe.min.js"), "utf8");

const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violated: " + event.violatedDirective + " by " + event.blockedURI + " in " + event.sourceFile))`;

interface AxeResult {
  violations: { id: string; help: string; nodes: { target: string[]; html: string; failureSummary: string }[] }[];
}

/** A page of the console, with everything written down that must not happen on one. */
export class WatchedPage {
  readonly page: Page;
  readonly problems: string[] = [];
  /** Compressed bytes of every script and style sheet, by path. */
  readonly loaded = new Map<string, number>();

  private constructor(page: Page, origin: string) {
    this.page = page;
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.problems.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.problems.push(`thrown: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith("blob:") && !url.startsWith("data:"))
        this.problems.push(`request to another origin: ${url}`);
    });
    page.on("response", async (response) => {
      const { pathname } = new URL(response.url());
      if (!/\.(js|css)$/.test(pathname)) return;
      this.loaded.set(pathname, Number((await response.headerValue("content-length")) ?? Number.NaN));
    });
  }

  static async open(context: BrowserContext, origin: string): Promise<WatchedPage> {
    const watched = new WatchedPage(await context.newPage(), origin);
    await watched.page.addInitScript({ content: REPORT_VIOLATIONS });
    return watched;
  }

  /** What axe finds against WCAG 2.2 AA and its best practices. */
  async accessibility(): Promise<string[]> {
    if (!(await this.page.evaluate<boolean>("'axe' in window"))) await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate<AxeResult>('axe.run(document, { resultTypes: ["violations"] })');
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, html, failureSummary }) =>
          `${id}: ${help} (${target.join(" ")}) ${html.slice(0, 120)} ${failureSummary}`,
      ),
    );
  }
}
