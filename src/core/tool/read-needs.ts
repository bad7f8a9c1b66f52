/** Reads which credentials a config says that its tool needs. */
import type { CredentialNeed } from '../../api/credentials.ts';
import { readOptions, text, wrongOption } from '../../values/options/index.ts';
import { scopeNames } from '../../values/options/scope-names.ts';
import { asField, runsIn, type ToolFields } from './config-fields.ts';

/** What a tool needs, by name. */
export type ReadNeeds = ReadonlyMap<string, CredentialNeed>;

const needTable = { scopes: scopeNames, audience: text(1, 2_048) };
const needName = /^[A-Za-z][\w-]{0,63}$/;
const mostNeeds = 16;
const elsewhere = ['external', 'fleet', 'remote'];

/** @param isOurs Not of an import, whose executor sends the token itself. */
export function readNeeds(config: ToolFields, where: string, isOurs: boolean) {
  const { credentials } = config;
  if (credentials === undefined) return undefined;
  const names = Object.keys(credentials);
  const place = runsIn(config, where);
  const expected =
    isOurs && elsewhere.includes(place)
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
