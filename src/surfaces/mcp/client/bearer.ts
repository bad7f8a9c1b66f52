/** The token of a kept login, for each request to its server. */
import type { AuthProvider, DpopSession } from '@modelcontextprotocol/client';
import { messageOf } from '../../../values/errors/index.ts';
import { bindTokens, dpopSession, isBound } from './dpop.ts';
import { type Fetch, oauthFetch } from './fetch.ts';
import { type OAuthRecord, type OAuthStore, providerOf } from './oauth.ts';
import { loadSdk } from './sdk.ts';
import { scopesIn, scopeUnion } from './wanted-scopes.ts';

type UnauthorizedContext = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/** What adds a token to requests. */
export interface TokenSource extends AuthProvider {
  /** Signs each request if the token is bound to a key, and takes note of scopes that one needs. */
  over(next: Fetch): Fetch;
}

export interface BearerOptions {
  /** What to do without a token, as a sentence. */
  readonly hint: string;
  /** Called with the secrets of a login, before they are used. */
  readonly told: (secret: string) => void;
  /** Whether a token that is not bound to a key is not used. */
  readonly mustBind: boolean;
}

/** Adds the token to each request of a server, and replaces one that has expired. */
export function bearerOf(url: string, store: OAuthStore, options: BearerOptions): TokenSource {
  const { hint, told, mustBind } = options;
  let last: OAuthRecord['tokens'];
  let refreshing: Promise<void> | undefined;
  const read = async (): Promise<OAuthRecord | undefined> => {
    const record = await store.read();
    const isUsed = !mustBind || isBound(record?.tokens);
    return record === undefined || isUsed ? record : { ...record, tokens: undefined };
  };
  const sessionFor = sessions();
  const refresh = async (context: UnauthorizedContext): Promise<void> => {
    const record = await read();
    const had = record?.tokens;
    if (record === undefined || had === undefined) throw new Error(`It asks for a login. ${hint}`);
    // Another process may have refreshed it meanwhile.
    if (had.access_token !== last?.access_token) return;
    try {
      await renew(url, { record, store, context, hint, session: await sessionFor(record) });
    } catch (error) {
      // A refresh token may be valid only once, and another process may have used it first.
      const now = (await read())?.tokens?.access_token;
      if (now === undefined || now === had.access_token) throw renewalFault(error, hint);
    }
  };
  return {
    async token() {
      const { client, tokens, dpop } = (await read()) ?? {};
      const secrets = [client?.client_secret, tokens?.refresh_token, tokens?.access_token, dpop?.d];
      for (const secret of secrets) if (secret !== undefined) told(secret);
      last = tokens;
      return last?.access_token;
    },
    onUnauthorized(context) {
      refreshing ??= refresh(context).finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    over(next) {
      let signing: Promise<Fetch> | undefined;
      const signed = async (): Promise<Fetch> =>
        (await loadSdk()).withDpop(
          async () => sessionFor(await read()),
          () => (isBound(last) ? last?.access_token : undefined),
        )(next);
      return async (address, init) => {
        signing ??= signed();
        const response = await (await signing)(address, init);
        if (response.status === 403) await noteScopes(store, response, hint);
        return response;
      };
    },
  };
}

/** Gets new tokens for a login, and stores them. */
async function renew(
  url: string,
  {
    record,
    store,
    context: { response },
    hint,
    session,
  }: {
    readonly record: OAuthRecord;
    readonly store: OAuthStore;
    readonly context: UnauthorizedContext;
    readonly hint: string;
    readonly session: DpopSession | undefined;
  },
): Promise<void> {
  const { auth, extractWWWAuthenticateParams } = await loadSdk();
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
  const redirect = (): never => {
    throw new Error(`Its login could not be renewed. ${hint}`);
  };
  const plain = providerOf(record, { redirect, saved: () => store.write(record) });
  const provider = session === undefined ? plain : bindTokens(plain, async () => session);
  // Without a way to store it, the SDK registers no client.
  await auth(Object.assign(provider, { saveClientInformation: undefined }), {
    serverUrl: url,
    fetchFn: oauthFetch(new URL(url)),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
}

/** The session of a record's key, which remembers what servers ask of the next signature. */
function sessions(): (record: OAuthRecord | undefined) => Promise<DpopSession | undefined> {
  let known: { readonly x: string; readonly session: Promise<DpopSession> } | undefined;
  return async (record) => {
    const key = record?.dpop;
    if (key === undefined) return undefined;
    if (known?.x !== key.x) known = { x: key.x, session: dpopSession(key) };
    return known.session;
  };
}

/**
 * Keeps the scopes that a call needs, for the next login. A person has to consent, so nothing is
 * tried again here.
 * @throws Error that says so, if that is why the server refused
 */
async function noteScopes(store: OAuthStore, response: Response, hint: string): Promise<void> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  const { error, scope } = extractWWWAuthenticateParams(response);
  if (error !== 'insufficient_scope') return;
  await response.body?.cancel();
  const needed = scopesIn(scope);
  const record = await store.read();
  if (record !== undefined) {
    const { wanted = [], asked = [], tokens } = record;
    const union = scopeUnion(wanted, asked, scopesIn(tokens?.scope), needed);
    // A server that refuses again and again causes one write.
    if (union.length > wanted.length) await store.write({ ...record, wanted: union });
  }
  const which = needed.length === 0 ? 'more' : needed.map((name) => `\`${name}\``).join(', ');
  const what = `It needs scopes that its login does not have: ${which}.`;
  throw new Error(`${what.slice(0, 1_000)} ${hint}`);
}

function renewalFault(error: unknown, hint: string): Error {
  if (error instanceof Error && error.message.includes(hint)) return error;
  const message = `Its login could not be renewed: ${messageOf(error)} ${hint}`;
  return new Error(message, { cause: error });
}
