/** Reads which credentials a definition says that its tool needs. */
import type { CredentialNeed } from '../../api/credentials.ts';
import type { AnyTool } from '../../api/tool.ts';
import { asField } from '../../core/tool/config-fields.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import { readOptions, text, wrongOption } from '../../values/options/index.ts';
import { scopeNames } from '../../values/options/scope-names.ts';

/** What a tool needs, by name. */
export type ReadNeeds = ReadonlyMap<string, CredentialNeed>;

const needTable = { scopes: scopeNames, audience: text(1, 2_048) };
const needName = /^[A-Za-z][\w-]{0,63}$/;
const mostNeeds = 16;
const elsewhere = ['external', 'fleet', 'remote'];

const known = new WeakMap<object, ReadNeeds>();

/**
 * What a definition needs, read when it is first registered; undefined if that is nothing.
 * @throws MisuseError `invalid_definition`
 */
export function needsOf(definition: AnyTool): ReadNeeds | undefined {
  const { credentials, input, runsIn } = internalsOf(definition);
  if (credentials === undefined) return undefined;
  const where = `Tool \`${definition.name}\``;
  // An import sends the token itself.
  const place = input.trusted && elsewhere.includes(runsIn) ? runsIn : undefined;
  const read = known.get(credentials) ?? readNeeds(credentials, where, place);
  known.set(credentials, read);
  return read;
}

/** @param place Where the calls run, if no token is sent there. */
function readNeeds(credentials: object, where: string, place: string | undefined): ReadNeeds {
  const names = Object.keys(credentials);
  const expected =
    place !== undefined
      ? `left out for a tool whose calls run elsewhere (\`${place}\`), to which no token is sent`
      : names.length === 0 || names.length > mostNeeds
        ? `1 to ${mostNeeds} of them`
        : names.every((name) => needName.test(name))
          ? undefined
          : 'names of at most 64 letters, digits, `_` and `-` that begin with a letter';
  if (expected !== undefined)
    throw wrongOption(where, 'credentials', expected, credentials, asField);
  const needs = new Map<string, CredentialNeed>();
  for (const [name, need] of Object.entries(credentials)) {
    const path = `credentials.${name}`;
    const { scopes, audience } = readOptions(where, need, needTable, { ...asField, path });
    needs.set(name, Object.freeze({ scopes: scopes && Object.freeze([...scopes]), audience }));
  }
  return needs;
}
