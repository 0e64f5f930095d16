/** What the API says, with the names that it quotes with backticks as code. */
export const Said = ({ text }: { text: string }) => (
  <>{text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
);
