type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type CamelKeys<Fields> = { [Name in keyof Fields as CamelCase<Name & string>]: Fields[Name] };

/** The same fields under the program's names: `max_output_tokens` → `maxOutputTokens`. Values are left as they are. */
export function camelKeys<Fields extends object>(fields: Fields): CamelKeys<Fields> {
  const renamed = Object.entries(fields).map(([name, value]) => [
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return Object.fromEntries(renamed) as CamelKeys<Fields>;
}
