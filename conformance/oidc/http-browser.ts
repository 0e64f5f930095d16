interface Visited {
  status: number;
  url: string;
  text: string;
  headers: Headers;
}

const MAX_STEPS = 15;

/** Follows redirects and submits forms as a browser does, with cookies for each origin. */
export class HttpBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  cookie(origin: string, name: string): string | undefined {
    return this.#cookies.get(origin)?.get(name);
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#jar(origin).set(name, value);
  }

  /** One request without following. */
  async step(url: string, init: RequestInit = {}): Promise<Visited> {
    const { origin } = new URL(url);
    const cookies = [...this.#jar(origin)].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { accept: "text/html", ...(cookies && { cookie: cookies }), ...(init.headers as object) };
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(";");
      const at = pair.indexOf("=");
      const ended = attributes.some((one) => /^\s*(max-age=0|expires=thu, 01 jan 1970)/i.test(one));
      if (ended || at + 1 === pair.length) this.#jar(origin).delete(pair.slice(0, at));
      else this.#jar(origin).set(pair.slice(0, at), pair.slice(at + 1));
    }
    return { status: response.status, url, text: await response.text(), headers: response.headers };
  }

  /** Follows redirects to the end, or to the first URL that begins with `until`, which is not requested. */
  async visit(url: string, init: RequestInit = {}, until = "none:"): Promise<Visited> {
    let visited = await this.step(url, init);
    for (let step = 0; step < MAX_STEPS; step++) {
      const location = visited.headers.get("location");
      if (location === null) return visited;
      const next = new URL(location, visited.url).href;
      if (next.startsWith(until)) return { ...visited, url: next };
      visited = await this.step(next);
    }
    throw new Error("too many redirects");
  }

  /** Submits the first form of a page, with these fields added. */
  submit({ url, text }: Visited, fields: Record<string, string>, until?: string): Promise<Visited> {
    const action = /<form[^>]*action="([^"]*)"/.exec(text)?.[1] ?? url;
    const hidden = [...text.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => [
      /name="([^"]*)"/.exec(tag)?.[1] ?? "",
      /value="([^"]*)"/.exec(tag)?.[1] ?? "",
    ]);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...fields });
    return this.visit(new URL(action, url).href, { method: "POST", body }, until);
  }

  #jar(origin: string): Map<string, string> {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    return jar;
  }
}
