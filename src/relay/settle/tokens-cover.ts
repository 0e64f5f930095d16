/** More characters than any tokenizer has in a token, runs of blanks included. */
const MAX_CHARACTERS_PER_TOKEN = 256;

/** Whether this many tokens can encode this many characters. */
export const tokensCover = (tokens: number, characters: number): boolean =>
  characters === 0 || (tokens > 0 && tokens * MAX_CHARACTERS_PER_TOKEN >= characters);
