/** How a client registers itself, for all scopes that its logins ask for. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../values/json/index.ts';
import type { OAuthFetch } from './fetch.ts';
import type { OAuthRecord } from './oauth.ts';
import { type AskedScopes, scopesIn, scopeUnion } from './wanted-scopes.ts';

/**
 * Lets a client register itself for all scopes that its logins ask for. The SDK names those of the
 * server's challenge only, and many authorization servers grant no other scope later.
 */
export function registeringFor(asked: AskedScopes, fetch: OAuthFetch): OAuthFetch {
  // Calls that need the same at once share a client, since they share a login.
  const underWay = new Map<string, Promise<Response>>();
  return async (url, init) => {
    const { body } = init ?? {};
    const sent: unknown =
      typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : undefined;
    if (!isJsonObject(sent) || !Array.isArray(sent.redirect_uris)) return fetch(url, init);
    const scope = scopeUnion(scopesIn(asked.of(textOf(sent.scope))), asked.all()).join(' ');
    const text = JSON.stringify({ ...sent, ...(scope === '' ? {} : { scope }) });
    const key = `${url} ${text}`;
    const known = underWay.get(key);
    const answer = known ?? fetch(url, { ...init, body: text });
    underWay.set(key, answer);
    return (await answer.finally(() => underWay.delete(key))).clone();
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * The client of a login, which registers itself once more when a call needs a scope for which it is
 * not registered.
 * @param replaced hears of a client whose tokens there are
 */
export function registrationOf(
  record: OAuthRecord,
  asked: AskedScopes,
  replaced: (client: OAuthRecord['client']) => void,
): Pick<OAuthClientProvider, 'clientInformation' | 'saveClientInformation'> {
  // It does so once for the same scopes.
  let registeredFor: string | undefined;
  const isEnough = (): boolean => {
    const all = asked.all();
    const granted = textOf((record.client as { scope?: unknown } | undefined)?.scope)?.split(' ');
    return (
      granted === undefined ||
      registeredFor === all.join(' ') ||
      all.every((scope) => granted.includes(scope))
    );
  };
  return {
    clientInformation: () => (isEnough() ? record.client : undefined),
    saveClientInformation(given) {
      const { client } = record;
      record.client = given;
      if (given.client_id === client?.client_id) return;
      if (record.tokens !== undefined) replaced(client);
      registeredFor = asked.all().join(' ');
    },
  };
}
