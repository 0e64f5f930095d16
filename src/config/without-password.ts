/** Everything between the scheme and the last `@`, whatever is in it, and the query, which may name a password too. */
export function withoutPassword(url: string): string {
  if (!/^\w+:\/\//.test(url)) return url;
  return url.replace(/:\/\/.*@/, "://[secret]@").replace(/\?.*/, "?[secret]");
}
