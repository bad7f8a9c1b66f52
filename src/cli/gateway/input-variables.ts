/** Names the variables that take the place of a client's inputs, such as `${input:api-key}`. */
import type { JsonObject } from '../../values/json/index.ts';

/** Gives an input its variable. */
export type InputVariables = (id: string) => string;

/**
 * Each input of a configuration gets a variable of its own, the same one wherever it occurs. Names
 * of the environment that the configuration uses are left to it.
 * @param section the servers of the configuration
 * @param warn called once for each input that does not get the name that its id suggests
 */
export function inputVariables(section: JsonObject, warn: (text: string) => void): InputVariables {
  const known = new Map<string, string>();
  // Some systems do not tell the cases of letters apart.
  const taken = new Set(
    [...JSON.stringify(section).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)].map(([, name = '']) =>
      name.toUpperCase(),
    ),
  );
  return (id) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const wanted = variableOf(id);
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
    taken.add(name);
    known.set(id, name);
    if (name !== wanted)
      warn(
        `\`\${input:${id}}\` becomes \`\${${name}}\`, because \`${wanted}\` stands for something ` +
          'else.',
      );
    return name;
  };
}

/** The name of a variable for the id of an input, or for a key. */
export function variableOf(id: string): string {
  const name = id.toUpperCase().replace(/[^A-Z0-9_]+/g, '_');
  return /^[A-Z_]/.test(name) ? name : `_${name}`;
}
