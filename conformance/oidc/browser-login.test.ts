import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { isPresent } from "../../testing/is-present.ts";
import { findBrowser, launch } from "../console/browser.ts";
import type { TestGateway } from "../support/test-gateway.ts";
import { CertifiedProvider } from "./certified-provider.ts";
import { adminPlace, startPeopleGateway } from "./people-gateway.ts";

const found = findBrowser();
isPresent(found !== undefined, "logins in a browser, because no Chromium was found (apt-get install chromium)");

const HOUR_MS = 3_600_000;
const WAIT_MS = 30_000;

describe.skipIf(!found)("decision 0120: logging in at a certified provider, in a browser", () => {
  const place = adminPlace();
  let provider: CertifiedProvider;
  let gateway: TestGateway;
  let browser: Browser;
  let aheadMs = 0;

  beforeAll(async () => {
    provider = await CertifiedProvider.start([place.callback]);
    gateway = await startPeopleGateway(provider.url, place.port, { wallMs: () => Date.now() + aheadMs });
    browser = await launch(found ?? "chromium");
  });
  afterAll(async () => {
    await browser?.close();
    await gateway.stop();
    await provider.stop();
  });

  afterEach(() => {
    aheadMs = 0;
  });

  async function newPage(): Promise<{ page: Page; context: BrowserContext }> {
    const context = await browser.newContext({ reducedMotion: "reduce" });
    context.setDefaultTimeout(WAIT_MS);
    return { page: await context.newPage(), context };
  }

  /** From the login page of the console to where the issuer leads. */
  async function logIn(page: Page, person: string): Promise<void> {
    await page.goto(gateway.adminUrl);
    await page.click("a[href='/api/session/oidc']");
    await page.fill("input[name=login]", person);
    await page.fill("input[name=password]", "any");
    await page.click("button[type=submit]");
    await page.click("button[type=submit]");
  }

  const operator = (page: Page) => page.textContent(".who");
  const pages = async (page: Page) => (await page.textContent("nav[aria-label=Pages]")) ?? "";
  const openSettings = (page: Page) => page.click("nav[aria-label=Pages] a:has-text('Settings')");
  const openPeople = async (page: Page) => {
    await openSettings(page);
    await page.click("nav[aria-label=Settings] a[href='/people']");
  };

  test("an admin sees the console, the session in its list, and logs out", async () => {
    const { page, context } = await newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await logIn(page, "ada");
    await page.waitForSelector("nav[aria-label=Pages]");
    expect(await operator(page)).toContain("oidc:ada");
    expect(page.url()).toBe(`${gateway.adminUrl}/`);
    const cookies = await context.cookies(gateway.adminUrl);
    const [cookie, ...others] = cookies.filter(({ name }) => name.startsWith("trv"));
    expect([cookie?.name, cookie?.sameSite, cookie?.httpOnly, others.length]).toEqual([
      "trv_session",
      "Strict",
      true,
      0,
    ]);

    await openPeople(page);
    await page.waitForSelector("section[aria-label='Sessions table'] tbody tr");
    const row = await page.textContent("section[aria-label='Sessions table'] tbody tr");
    expect(row).toContain("oidc:ada");
    expect(row).toContain(provider.url);
    await page.reload();
    await page.waitForSelector("section[aria-label='Sessions table']");

    await page.click("button[aria-label='Log out']");
    await page.waitForSelector("input[name=secret]");
    await page.reload();
    await page.waitForSelector("input[name=secret]");
    expect(problems).toEqual([]);
    await context.close();
  }, 120_000);

  test("a viewer sees what a viewer may, and a stranger learns why there is no session", async () => {
    const viewer = await newPage();
    await logIn(viewer.page, "vera");
    await viewer.page.waitForSelector("nav[aria-label=Pages]");
    expect(await pages(viewer.page)).not.toContain("Playground");
    await openSettings(viewer.page);
    await viewer.page.waitForSelector("nav[aria-label=Settings] a[href='/audit']");
    await viewer.context.close();

    const stranger = await newPage();
    await logIn(stranger.page, "nobody");
    await stranger.page.waitForSelector("[role=alert]");
    expect(await stranger.page.textContent("[role=alert]")).toContain("no group with a role");
    await stranger.page.click("a");
    await stranger.page.waitForSelector("input[name=secret]");
    await stranger.context.close();
  }, 120_000);

  test("a session ends after twelve hours, also in a page that is open", async () => {
    const { page, context } = await newPage();
    await logIn(page, "ada");
    await page.waitForSelector("nav[aria-label=Pages]");
    aheadMs = 12 * HOUR_MS + 1_000;
    // It reads its figures again by itself.
    await page.waitForSelector("input[name=secret]", { timeout: 100_000 });
    await context.close();
  }, 120_000);

  test("an admin ends the session of another person", async () => {
    const [admin, other] = [await newPage(), await newPage()];
    await logIn(admin.page, "ada");
    await logIn(other.page, "vera");
    await other.page.waitForSelector("nav[aria-label=Pages]");
    await admin.page.waitForSelector("nav[aria-label=Pages]");
    await openPeople(admin.page);
    await admin.page.click("tr:has-text('oidc:vera') button >> nth=0");
    await admin.page.click("dialog button[type=submit]");
    await admin.page.waitForSelector("dialog", { state: "detached" });
    await openSettings(other.page);
    await other.page.waitForSelector("input[name=secret]");
    await admin.context.close();
    await other.context.close();
  }, 120_000);

  test("the login page offers the secret and says why the issuer cannot be used, after a rotation and an outage", async () => {
    await provider.rotate();
    await Bun.sleep(5_100);
    const { page, context } = await newPage();
    await logIn(page, "ada");
    await page.waitForSelector("nav[aria-label=Pages]");
    await context.close();

    await provider.stop();
    const fresh = adminPlace();
    const other = await startPeopleGateway(provider.url, fresh.port);
    const down = await newPage();
    await down.page.goto(other.adminUrl);
    await down.page.waitForSelector("p[role=status]");
    expect(await down.page.textContent("p[role=status]")).toMatch(
      /is not possible at this moment: .*cannot be reached/,
    );
    await down.page.fill("input[name=secret]", other.adminSecret);
    await down.page.click("button[type=submit]");
    await down.page.waitForSelector("nav[aria-label=Pages]");
    expect(await operator(down.page)).toContain("admin");
    await down.context.close();
    await other.stop();
    await provider.resume();
  }, 120_000);
});
