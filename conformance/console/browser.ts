import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { accessibilityOf } from "./accessibility.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** Where a Chromium is, if there is one among the programs of this shell: it is a script there that calls others. */
export function findBrowser(): string | undefined {
  const named = process.env["TRIVIUM_CHROMIUM"];
  if (named !== undefined && existsSync(named)) return named;
  return PROGRAMS.map((program) => Bun.which(program)).find((path) => path !== null) ?? undefined;
}

/** No page lives long enough here to earn back what the last compiler takes. */
const SCRIPT_FLAGS = ["--js-flags=--no-turbofan"];

export function launch(executablePath: string): Promise<Browser> {
  // Without a sandbox only where the tests run as root, as in a container: Chromium refuses one there.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath, args: [...(isRoot ? ["--no-sandbox"] : []), ...SCRIPT_FLAGS] });
}

const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violated: " + event.violatedDirective + " by " + event.blockedURI + " in " + event.sourceFile))`;

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
    // The limit of thirty seconds is meant for a machine that does nothing else.
    context.setDefaultTimeout(120_000);
    const watched = new WatchedPage(await context.newPage(), origin);
    await watched.page.addInitScript({ content: REPORT_VIOLATIONS });
    return watched;
  }

  scriptBytes(): number {
    const scripts = [...this.loaded].filter(([path]) => path.endsWith(".js"));
    return scripts.reduce((all, [, bytes]) => all + bytes, 0);
  }

  /** What axe finds in the colours that are shown. */
  accessibility(part: "all" | "colours" = "all"): Promise<string[]> {
    return accessibilityOf(this.page, part);
  }

  /** What axe finds in the colours that are shown, and in the others. */
  async accessibilityInBoth(): Promise<string[]> {
    const found = await this.accessibility();
    await this.page.emulateMedia({ colorScheme: "dark" });
    await this.settled();
    found.push(...(await this.accessibility("colours")));
    await this.page.emulateMedia({ colorScheme: "light" });
    await this.settled();
    return found;
  }

  /** Colours change slowly. */
  async settled(): Promise<void> {
    await this.page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => {})");
  }

  /**
   * Goes to an address of the console as the back button does, by way of a page that there is not: nothing of the console is loaded again,
   * and nothing that the page before has shown is left.
   */
  async visit(address: string): Promise<void> {
    await this.page.evaluate(`(async () => {
      for (const address of ["/none", ${JSON.stringify(address)}]) {
        history.pushState(null, "", address);
        dispatchEvent(new PopStateEvent("popstate"));
        await new Promise(requestAnimationFrame);
      }
    })()`);
  }
}
