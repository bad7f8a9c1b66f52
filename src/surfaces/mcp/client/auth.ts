/** How an import gets its tokens from a server over HTTP, by the SDK's own providers. */
import { createPrivateKey } from 'node:crypto';
import type {
  CrossAppAccessContext,
  OAuthClientProvider,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { checkedStore } from '../../../stores/shared/use-store.ts';
import { MisuseError } from '../../../values/errors/index.ts';
import {
  isProvider,
  type McpAuth,
  type McpAuthorizationCode,
  type McpEnterprise,
  type McpGrant,
  type McpJwtBearer,
  readAuth,
} from './auth-options.ts';
import { bindTokens, dpopSession, newDpopKey } from './dpop.ts';
import { type OAuthFetch, oauthFetch } from './fetch.ts';
import type { Authorizer } from './login.ts';
import { loadSdk } from './sdk.ts';
import { askedScopes } from './wanted-scopes.ts';

const where = 'importMcpTools';
const loginUse = { what: 'logins to MCP servers', needs: ['get', 'set'] } as const;
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Checks the option, and returns what opens the way to tokens when the first connection opens.
 * @throws MisuseError `invalid_option`.
 */
export function authorizerOf(
  given: McpAuth,
  endpoint: URL,
  told?: (secret: string) => void,
): () => Promise<Authorizer> {
  const auth = readAuth(given);
  const fetch = oauthFetch(endpoint, told);
  if (isProvider(auth)) {
    const provider = auth as OAuthClientProvider;
    return async () => ({ provider, fetch, finish: undefined });
  }
  if (!('provider' in auth)) return openerOf(auth, endpoint, fetch);
  const { provider, answer } = auth;
  return async () => ({
    provider: provider as OAuthClientProvider,
    fetch,
    finish: async (redeem) => {
      const { code, iss } = ((await answer()) ?? {}) as { code?: unknown; iss?: unknown };
      if (typeof code !== 'string' || code === '' || (iss !== undefined && typeof iss !== 'string'))
        throw new Error('Expected `auth.answer` to resolve to { code, iss? }, both texts.');
      await redeem(new URLSearchParams({ code, ...(iss === undefined ? {} : { iss }) }));
    },
  });
}

function openerOf(auth: McpGrant, endpoint: URL, fetch: OAuthFetch): () => Promise<Authorizer> {
  const asked = askedScopes(auth.scopes);
  if (auth.grant === 'authorization_code') {
    const store = auth.store && checkedStore(where, 'auth.store', auth.store, loginUse);
    const open = async () =>
      (await import('./login.ts')).loginOf({ ...auth, store }, endpoint, fetch, asked);
    let login: ReturnType<typeof open> | undefined;
    return async () => {
      login ??= open();
      return (await login)();
    };
  }
  const make = programOf(auth, fetch);
  return async () => {
    const provider = await make();
    const prepare = provider.prepareTokenRequest?.bind(provider);
    provider.prepareTokenRequest = (said) => prepare?.(asked.of(said));
    const program = { provider, fetch, finish: undefined, note: asked.note };
    if (auth.dpop !== true) return program;
    const session = await dpopSession(await newDpopKey());
    return { ...program, provider: bindTokens(provider, async () => session) };
  };
}

/** @returns makes the SDK's provider of a program. @throws MisuseError for a key that is none */
function programOf(
  auth: Exclude<McpGrant, McpAuthorizationCode>,
  fetch: OAuthFetch,
): () => Promise<OAuthClientProvider> {
  const { clientId, issuer: expectedIssuer, scopes } = auth;
  const common = {
    clientId,
    expectedIssuer,
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  };
  switch (auth.grant) {
    case 'private_key_jwt': {
      const { privateKey, algorithm = algorithmOf(privateKey) } = auth;
      return async () =>
        new (await loadSdk()).PrivateKeyJwtProvider({ ...common, privateKey, algorithm });
    }
    case 'client_credentials': {
      const { clientSecret } = auth;
      return async () =>
        new (await loadSdk()).ClientCredentialsProvider({ ...common, clientSecret });
    }
    case 'jwt_bearer':
      return async () => workloadOf(auth);
    case 'enterprise': {
      const { clientSecret } = auth;
      const assertion = (asked: CrossAppAccessContext) => assertionOf(auth, asked, fetch);
      return async () => {
        const { CrossAppAccessProvider } = await loadSdk();
        return new CrossAppAccessProvider({ ...common, clientSecret, assertion, fetchFn: fetch });
      };
    }
  }
}

/** What the identity provider of an organisation says of a person. */
async function assertionOf(
  { idpUrl, idpTokenUrl, idpClientId, idpClientSecret, idToken }: McpEnterprise,
  asked: CrossAppAccessContext,
  fetch: OAuthFetch,
): Promise<string> {
  const sdk = await loadSdk();
  const request = {
    audience: asked.authorizationServerUrl,
    resource: asked.resourceUrl,
    idToken: typeof idToken === 'function' ? await idToken() : idToken,
    clientId: idpClientId,
    ...(idpClientSecret === undefined ? {} : { clientSecret: idpClientSecret }),
    ...(asked.scope === undefined ? {} : { scope: asked.scope }),
    fetchFn: fetch,
  };
  const { jwtAuthGrant } =
    idpTokenUrl === undefined
      ? await sdk.discoverAndRequestJwtAuthGrant({ ...request, idpUrl })
      : await sdk.requestJwtAuthorizationGrant({ ...request, tokenEndpoint: idpTokenUrl });
  return jwtAuthGrant;
}

/** The SDK has no provider for this grant. */
function workloadOf({ clientId, issuer, assertion, scopes }: McpJwtBearer): OAuthClientProvider {
  let tokens: StoredOAuthTokens | undefined;
  const noPerson = (): never => {
    throw new Error('A program does not log in as a person.');
  };
  return {
    redirectUrl: undefined,
    clientMetadata: {
      client_name: 'host-tools',
      redirect_uris: [],
      grant_types: [jwtBearer],
      token_endpoint_auth_method: 'none',
      scope: scopes?.join(' '),
    },
    // Without a way to store another, the SDK uses this client at this issuer only.
    clientInformation: () => ({ client_id: clientId, issuer }),
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given;
    },
    redirectToAuthorization: noPerson,
    saveCodeVerifier: noPerson,
    codeVerifier: noPerson,
    // The SDK would try a second time.
    invalidateCredentials() {
      throw new Error('The authorization server refused the client or its `assertion`.');
    },
    async prepareTokenRequest(scope) {
      const given = typeof assertion === 'function' ? await assertion() : assertion;
      if (typeof given !== 'string' || given === '')
        throw new Error('Expected `auth.assertion` to resolve to a JWT, got none.');
      return new URLSearchParams({
        grant_type: jwtBearer,
        assertion: given,
        ...(scope === undefined ? {} : { scope }),
      });
    },
  };
}

/** @throws MisuseError `invalid_option` for what is no private key. */
function algorithmOf(pem: string): string {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`auth.privateKey\` to be a private key as PEM, got another text.`,
    );
  }
  if (key.asymmetricKeyType === 'ec') {
    const curve = key.asymmetricKeyDetails?.namedCurve;
    return curve === 'secp384r1' ? 'ES384' : curve === 'secp521r1' ? 'ES512' : 'ES256';
  }
  return key.asymmetricKeyType === 'ed25519' ? 'EdDSA' : 'RS256';
}
