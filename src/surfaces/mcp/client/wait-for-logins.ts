/** Sends requests again that needed a person to log in. */
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Authorizer } from './login.ts';

/** Sends again what needed a login. @returns waits for the login that was begun last */
export function waitForLogins(
  transport: StreamableHTTPClientTransport,
  { finish, abandon }: Authorizer,
  state: { readonly greeted: boolean },
  Unauthorized: abstract new (...args: never[]) => Error,
): () => Promise<void> {
  let begun: Promise<void> | undefined;
  // One login at a time: requests that need one as well wait for it.
  const logIn = (): Promise<void> => {
    begun ??= (finish as NonNullable<typeof finish>)((back) => transport.finishAuth(back)).finally(
      () => {
        begun = undefined;
      },
    );
    return begun;
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, sending) => {
    try {
      await begun;
      return await send(message, sending);
    } catch (error) {
      if (!state.greeted || !isCausedBy(error, Unauthorized)) throw error;
      await logIn();
      try {
        return await send(message, sending);
      } catch (again) {
        if (!isCausedBy(again, Unauthorized)) throw again;
        abandon?.();
        throw new Error(
          'The server asks for another login right after one. For one call, a person logs in once.',
          { cause: again },
        );
      }
    }
  };
  return logIn;
}

export function isCausedBy(
  error: unknown,
  kind: abstract new (...args: never[]) => Error,
): boolean {
  for (let one: unknown = error; one instanceof Error; one = (one as Error).cause)
    if (one instanceof kind) return true;
  return false;
}
