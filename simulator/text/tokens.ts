/** A token is a word with the white space before it; a longer word is cut every four characters. */
const TOKEN = /\s*\S{1,4}|\s+/gu;

/** Fragments that join to the text again. */
export function tokenize(text: string): string[] {
  return text.match(TOKEN) ?? [];
}

export function countTokens(text: string): number {
  return text.match(TOKEN)?.length ?? 0;
}

/** Tokens in groups, for protocols whose hosts send several at once. */
export function fragments(text: string, tokensPerFragment: number): { text: string; tokens: number }[] {
  const tokens = tokenize(text);
  const groups: { text: string; tokens: number }[] = [];
  for (let at = 0; at < tokens.length; at += tokensPerFragment) {
    const group = tokens.slice(at, at + tokensPerFragment);
    groups.push({ text: group.join(""), tokens: group.length });
  }
  return groups;
}
