/** Takes the names that other libraries have for `parameters` and `handler`. */
import { relayClientError } from './relay-client-error.ts';
import type { RelayToolInput, TypedRelayTool } from './tool.ts';

const otherNames = [
  ['parameters', 'inputSchema'],
  ['handler', 'execute'],
] as const;

/** Every field of a tool. */
export const toolFields: readonly (keyof RelayToolInput)[] = [
  'name',
  'description',
  'parameters',
  'outputSchema',
  'title',
  'annotations',
  'handler',
  'inputSchema',
  'execute',
];

/** The same tool with `parameters` and `handler`. Throws `invalid_options` for both of a pair. */
export function withOwnNames<Args extends object>(
  tool: RelayToolInput<Args>,
): TypedRelayTool<Args> {
  const given = tool as Readonly<Record<string, unknown>> | null | undefined;
  const other = otherNames.filter(([, name]) => given?.[name] !== undefined);
  if (given === null || given === undefined || other.length === 0)
    return tool as TypedRelayTool<Args>;
  for (const [name, alias] of other)
    if (given[name] !== undefined)
      throw relayClientError(
        'invalid_options',
        `The tool ${JSON.stringify(given.name)} has both \`${name}\` and \`${alias}\`, which are ` +
          'two names of the same field. Leave one of them out.',
      );
  const own = { ...given } as Record<string, unknown> & TypedRelayTool<Args>;
  const members: Record<string, unknown> = own;
  // A tool may be an object of a class, which inherits members and uses `this`.
  for (const name of toolFields) {
    const value = given[name];
    if (value !== undefined) members[name] = typeof value === 'function' ? value.bind(tool) : value;
  }
  for (const [name, alias] of other) {
    members[name] = members[alias];
    delete members[alias];
  }
  return own;
}
