import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { findService } from "../../testing/is-present.ts";
import { type AxePart, accessibilityOf } from "./accessibility.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

/** The path of Chromium, if it is installed. */
export function findBrowser(): string | undefined {
  const named = process.env["TRIVIUM_CHROMIUM"];
  if (named !== undefined && existsSync(named)) return named;
  return findService(...PROGRAMS);
}

/** Pages are open too briefly for the optimising compiler to pay off. */
const SCRIPT_FLAGS = ["--js-flags=--no-turbofan"];

export function launch(executablePath: string): Promise<Browser> {
  // As root, for example in a container, Chromium does not start with a sandbox.
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath, args: [...(isRoot ? ["--no-sandbox"] : []), ...SCRIPT_FLAGS] });
}

const REPORT_VIOLATIONS = `addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violated: " + event.violatedDirective + " by " + event.blockedURI + " in " + event.sourceFile))`;

/** A page of the console that records everything that must not happen. */
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
    // The default of thirty seconds is too short for a busy machine.
    context.setDefaultTimeout(120_000);
    const watched = new WatchedPage(await context.newPage(), origin);
    await watched.page.addInitScript({ content: REPORT_VIOLATIONS });
    return watched;
  }

  scriptBytes(): number {
    const scripts = [...this.loaded].filter(([path]) => path.endsWith(".js"));
    return scripts.reduce((all, [, bytes]) => all + bytes, 0);
  }

  /** The axe violations in the current colour scheme. */
  accessibility(part: AxePart = "but-targets"): Promise<string[]> {
    return accessibilityOf(this.page, part);
  }

  /** The axe violations in both colour schemes. */
  async accessibilityInBoth(): Promise<string[]> {
    const found = await this.accessibility();
    await this.page.emulateMedia({ colorScheme: "dark" });
    await this.settled();
    found.push(...(await this.accessibility("colours")));
    await this.page.emulateMedia({ colorScheme: "light" });
    await this.settled();
    return found;
  }

  /** Waits until animated colour changes have ended. */
  async settled(): Promise<void> {
    await this.page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => {})");
  }

  /**
   * Navigates like the back button, via a page that does not exist. The console is not loaded again, and nothing of the previous
   * page is left.
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
