/** How an import gets its tokens from a server over HTTP, by the SDK's own providers. */
import { createPrivateKey } from 'node:crypto';
import type { CrossAppAccessContext, OAuthClientProvider } from '@modelcontextprotocol/client';
import { MisuseError } from '../../../values/errors/index.ts';
import { isProvider, type McpAuth, type McpGrant, readAuth } from './auth-options.ts';
import { type OAuthFetch, oauthFetch } from './fetch.ts';
import { type Authorizer, loginOf } from './login.ts';
import { loadSdk } from './sdk.ts';

const where = 'importMcpTools';

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
  if (auth.grant === 'authorization_code') return loginOf(auth, endpoint, fetch);
  const { clientId, issuer: expectedIssuer, scopes } = auth;
  const common = {
    clientId,
    expectedIssuer,
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  };
  const silent = (provider: OAuthClientProvider): Authorizer => ({
    provider,
    fetch,
    finish: undefined,
  });
  if (auth.grant === 'private_key_jwt') {
    const { privateKey, algorithm = algorithmOf(privateKey) } = auth;
    return async () =>
      silent(new (await loadSdk()).PrivateKeyJwtProvider({ ...common, privateKey, algorithm }));
  }
  const { clientSecret } = auth;
  if (auth.grant === 'client_credentials')
    return async () =>
      silent(new (await loadSdk()).ClientCredentialsProvider({ ...common, clientSecret }));
  return async () => {
    const sdk = await loadSdk();
    const assertion = async (asked: CrossAppAccessContext): Promise<string> => {
      const { idpUrl, idpTokenUrl, idpClientId, idpClientSecret, idToken } = auth;
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
    };
    return silent(
      new sdk.CrossAppAccessProvider({ ...common, clientSecret, assertion, fetchFn: fetch }),
    );
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
