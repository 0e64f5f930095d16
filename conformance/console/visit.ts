import type { Browser } from "playwright-core";
import { launch, WatchedPage } from "./browser.ts";
import { type SeededGateway, startSeeded } from "./seeded-gateway.ts";

/** One browser and one gateway for all console tests, because both take seconds to start. */
export interface Visit {
  browser: Browser;
  gateway: SeededGateway;
  /** The page of an operator who logged in with the link. */
  watched: WatchedPage;
  /** Compressed size of the scripts of the first page. */
  first: number;
  end(): Promise<void>;
}

export async function startVisit(program: string): Promise<Visit> {
  const gateway = await startSeeded();
  const browser = await launch(program);
  const end = async () => {
    await browser.close();
    await gateway.stop();
  };
  // Animated colour changes would be redrawn many times.
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  const watched = await WatchedPage.open(context, gateway.url);
  const { page } = watched;
  await page.goto(gateway.link);
  await page.waitForSelector("nav[aria-label=Pages]");
  await page.waitForSelector(".tops tbody a");
  return { browser, gateway, watched, first: watched.scriptBytes(), end };
}
