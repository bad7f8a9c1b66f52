/** Who may call the tools of a gateway over HTTP, as one of its files says. */
import { messageOf } from '../../values/errors/index.ts';
import { canonicalJson } from '../../values/json/index.ts';
import type { AuthorizationEntry } from '../config/server-format.ts';
import { jwtVerifier, type McpAuthorization } from '../mcp/index.ts';

export interface AuthorizationKeeper {
  /** Undefined if no file says so. */
  readonly given: McpAuthorization | undefined;
  problem(file: string, entry: AuthorizationEntry, again: boolean): string | undefined;
  take(file: string, entry: AuthorizationEntry | undefined): void;
}

/** The first file that says so counts, until the process ends: an edit must not let others in. */
export function keepAuthorization(note: (line: string) => void): AuthorizationKeeper {
  let kept: { readonly file: string; readonly entry: AuthorizationEntry } | undefined;
  return {
    get given() {
      return kept && authorizationOf(kept.entry);
    },
    problem(file, entry, again) {
      if (kept?.file === file && canonicalJson(kept.entry) === canonicalJson(entry))
        return undefined;
      if (again) return 'who may call the tools is read at the start only; start the command again';
      if (kept !== undefined)
        return `the file \`${kept.file}\` already says who may call the tools`;
      try {
        authorizationOf(entry);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    },
    take(file, entry) {
      if (entry === undefined && kept?.file === file)
        note(
          'warning: `authorization` was removed from the file, and stays in effect until the ' +
            'command starts again.',
        );
      if (entry !== undefined) kept ??= { file, entry };
    },
  };
}

/** @throws MisuseError for an address that is not safe. */
export function authorizationOf({
  issuer,
  audience,
  jwksUrl,
  scopes = [],
  resource,
}: AuthorizationEntry): McpAuthorization {
  return {
    authorizationServers: [issuer],
    verify: jwtVerifier({ issuer, audience, jwksUrl }),
    scopes: scopes.map((name) => ({ name })),
    resource,
  };
}
