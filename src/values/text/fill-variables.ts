/** Fills `${NAME}` in what files and command lines give: headers, environments, addresses. */

/** Variables of the environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Texts with their variables filled in. */
export interface Filled {
  readonly values: Readonly<Record<string, string>>;
  /** The variables that are not set, each once. If there are any, the values are not complete. */
  readonly missing: readonly string[];
  /** The values of the variables that are set. */
  readonly used: readonly string[];
}

/**
 * Replaces each `${NAME}` with the variable's value. Values themselves are not searched for
 * variables.
 */
export function fillVariables(given: Readonly<Record<string, string>>, env: Environment): Filled {
  const missing = new Set<string>();
  const used = new Set<string>();
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)\}/g, (whole, name: string) => {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (value === undefined) {
        missing.add(name);
        return whole;
      }
      used.add(value);
      return value;
    });
  const filled = Object.entries(given).map(([key, text]) => [key, fill(text)] as const);
  return { values: Object.fromEntries(filled), missing: [...missing], used: [...used] };
}
