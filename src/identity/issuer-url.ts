import { isLoopbackUrl } from "../base/address-class.ts";

/** Issuers are https, or http on loopback (decision 0121). */
export function isIssuerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackUrl(text));
}
