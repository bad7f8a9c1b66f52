/** The credential of an import, whose token goes with each of its requests. */
import type { CredentialNeeds, ToolContext } from '../../core.ts';
import { kind } from '../../values/options/index.ts';

/** The option `credentials` of an import. */
export const oneCredential = kind<CredentialNeeds>(
  'an object with one name',
  (given) => typeof given === 'object' && given !== null && Object.keys(given).length === 1,
);

/**
 * The `Authorization` of the principal.
 * @throws Error if there is none, since nothing is sent in nobody's name
 */
export function authorizationOf({ credentials }: Pick<ToolContext, 'credentials'>): string {
  const [held] = Object.values(credentials as Readonly<Record<string, never>>) as readonly {
    headers(): { readonly Authorization: string };
  }[];
  if (held === undefined) throw new Error('Nothing was sent: the call has no credential.');
  return held.headers().Authorization;
}
