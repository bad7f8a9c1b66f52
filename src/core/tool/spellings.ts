/** Names of other libraries for fields of a tool's config. They are accepted as well. */
import { MisuseError } from '../../values/errors/index.ts';

/** Each field with its other name. What is read from a config goes by the first name. */
const otherNames = {
  parameters: 'inputSchema',
  handler: 'execute',
  requiresApproval: 'needsApproval',
} as const;

/** The same for the hints, whose other names are those of MCP. */
export const otherHints = {
  readOnly: 'readOnlyHint',
  destructive: 'destructiveHint',
  idempotent: 'idempotentHint',
  openWorld: 'openWorldHint',
} as const;

/** The fields of a config that have two names. */
export type TwoNamed = keyof typeof otherNames;

/** The name by which a config has a field, for messages. */
export function spelling(config: Readonly<Record<string, unknown>>, field: TwoNamed): string {
  return config[otherNames[field]] === undefined ? field : otherNames[field];
}

/**
 * The same config with the own name of each field.
 * @throws MisuseError `invalid_definition` if both names are given
 */
export function withOwnNames<T extends Readonly<Record<string, unknown>>>(
  where: string,
  config: T,
  others: Readonly<Record<string, string>> = otherNames,
  path = '',
): T {
  const own: Record<string, unknown> = { ...config };
  for (const [name, other] of Object.entries(others)) {
    if (config[other] === undefined) continue;
    if (config[name] !== undefined)
      throw new MisuseError(
        'invalid_definition',
        `${where}: expected one of \`${path}${name}\` and \`${path}${other}\`, got both, ` +
          'two names of one field. Leave one of them out.',
      );
    own[name] = config[other];
    own[other] = undefined;
  }
  return own as T;
}
