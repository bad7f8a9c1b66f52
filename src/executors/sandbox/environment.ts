/** The environment of a sandbox. It has only the variables that the options name. */
import { MisuseError } from '../../values/errors/index.ts';
import { kind, wrongOption } from '../../values/options/index.ts';

/** Names of variables of this process, or variables with their values. */
export type SandboxEnv = readonly string[] | Readonly<Record<string, string>>;

const expected =
  'an array of names of variables, or an object with the values of variables as strings';

export const envKind = kind<SandboxEnv>(
  expected,
  (value) => typeof value === 'object' && value !== null,
);

/** The variable with options for Node, which could undo those that the sandbox is started with. */
const refused = 'NODE_OPTIONS';

/** @throws MisuseError `invalid_option` */
export function readEnv(where: string, given: SandboxEnv | undefined): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  if (given === undefined) return env;
  const names: readonly unknown[] = Array.isArray(given) ? given : Object.keys(given);
  for (const name of names) {
    if (typeof name !== 'string' || !/^[^=\0]+$/.test(name))
      throw wrongOption(where, 'env', expected, given);
    if (name.toUpperCase() === refused)
      throw new MisuseError(
        'invalid_option',
        `${where}: expected \`env\` without ${refused}, since it could lift the limits of the ` +
          'sandbox.',
      );
    const value: unknown = Array.isArray(given)
      ? process.env[name]
      : (given as Readonly<Record<string, string>>)[name];
    if (value === undefined && Array.isArray(given)) continue;
    if (typeof value !== 'string' || value.includes('\0'))
      throw wrongOption(where, `env.${name}`, 'a string without NUL', value);
    env[name] = value;
  }
  return env;
}
